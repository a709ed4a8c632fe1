// tree.js -- the token tree: what was written, what else might have been, and how each token was chosen. Drawn as SVG, so that it can be saved.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const drawnIn = (parent, name, attributes = {}, text) => {
  const e = parent.appendChild(document.createElementNS(SVG, name));
  for (const a in attributes) e.setAttribute(a, attributes[a]);
  if (text !== undefined) e.textContent = text;
  return e;
};
const LINE = 28, PAD = 30;
let stagesOf = new Map(), stagesKey = "", focusNode = null, treeNodes = [];

// ---- which ways are shown: the nodes that there are, and beside those of the path the likeliest others
async function stages(node) {
  const current = () => JSON.stringify([settings, prompt, tree.length, now.node]), key = current();
  if (key !== stagesKey) stagesOf.clear(), stagesKey = key;
  if (stagesOf.has(node)) return stagesOf.get(node);
  const read = nodeOf(node)?.read !== false, s = read ? await ask("stages", { node }).catch(() => null) : null;      // what was not read has no choice
  if (s && key === current()) stagesOf.set(node, s);       // meanwhile a slider may have moved
  return s;
}
// the children of a node, the one on the path among them, the likelier above and below in turn
function family(t, depth, kids, on) {
  const all = kids.sort((a, b) => b.t.probability - a.t.probability), main = all.find(k => !k.ghost && on.has(k.t.node)), rest = all.filter(k => k !== main);
  const above = rest.filter((_, i) => i % 2 === 0).reverse(), below = rest.filter((_, i) => i % 2);
  return { t, depth, kids: main ? [...above, main, ...below] : all, main };
}
async function allWays(on) {
  const kids = new Map(), likely = new Map();
  for (const t of tree.slice(1)) kids.has(t.parent) ? kids.get(t.parent).push(t) : kids.set(t.parent, [t]);
  for (const id of on) { const s = await stages(id); if (s) likely.set(id, s.stages[0].list); }
  const build = (t, depth) => {
    const have = (kids.get(t.node) ?? []).map(k => build(k, depth + 1)), ids = new Set(have.map(h => h.t.id));
    const ghosts = (likely.get(t.node) ?? []).filter(c => c.probability >= .0005 && !ids.has(c.id)).slice(0, Math.max(0, ways - have.length));
    return family(t, depth, [...have, ...ghosts.map(c => ({ t: c, ghost: true, parent: t.node, depth: depth + 1, kids: [] }))], on);
  };
  return build(tree[0], 0);
}
// a search: the candidates of each step, of which the best are kept
function searched(on) {
  const kids = new Map(), list = now.search.map(t => ({ ...t, probability: Math.exp(t.logprob) }));
  for (const t of list) if (t.chosen) on.add(t.node);
  for (const t of list) kids.has(t.parent) ? kids.get(t.parent).push(t) : kids.set(t.parent, [t]);
  const build = (t, depth) => {
    const have = (kids.get(t.node) ?? []).filter(k => k.why !== "too low" || k.rank <= ways + now.beams.length).map(k => build(k, depth + 1));
    return Object.assign(family(t, depth, have, on), { ghost: t.why === "too low", parent: t.parent });
  };
  return build({ node: 0 }, 0);
}
let drawing = 0;
async function drawTree() {
  if (view !== "tree" || !now) return;
  const me = ++drawing, search = beamed && now.search?.length, on = new Set(search ? [0] : [0, ...path().map(t => t.node)]);
  $("beam").textContent = search ? "Tree" : "Search";
  const top = search ? searched(on) : await allWays(on);
  if (me !== drawing) return;
  let deep = 0, high = 0, low = 0;
  fit(top);
  const put = (n, y) => {
    n.y = y, deep = Math.max(deep, n.depth), high = Math.min(high, y), low = Math.max(low, y);
    for (const k of n.kids) put(k, y + k.dy);
  };
  put(top, 0);
  // a column is as wide as the widest of its words
  const wide = [0], left_ = [0];
  const widths = n => { wide[n.depth] = Math.max(wide[n.depth] ?? 0, n.depth ? wordWidth(n) : 0), n.kids.forEach(widths); };
  widths(top);
  for (let d = 1; d <= deep; d++) left_[d] = d === 1 ? 0 : left_[d - 1] + wide[d - 1] + 58;
  const begin = (search ? now.pieces : now.pieces.slice(0, now.prompt_tokens)).join("").slice(-44), left = textWidth(begin, "italic 16px") + 60;
  const width = left + (left_[deep] ?? 0) + (wide[deep] ?? 0) + 100 + PAD, height = Math.max(260, low - high + 2 * PAD), down = (height - high - low) / 2;
  const svg = $("tree-svg-view");
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`), svg.setAttribute("width", width), svg.setAttribute("height", height);
  const x = n => n.depth ? left + 18 + left_[n.depth] : left - 16, Y = n => n.y + down;
  const edges = drawnIn(svg, "g", { fill: "none" }), nodes = drawnIn(svg, "g");
  treeNodes = [];
  const draw = n => {
    for (const k of n.kids) {
      const path = !k.ghost && on.has(k.t.node), p = k.t.probability ?? 0, x0 = x(n) + (n.depth ? 0 : 4), x1 = x(k);
      const from = n.depth ? x0 + wordWidth(n) : x0;
      drawnIn(edges, "path", { d: `M${from} ${Y(n)}C${(from + x1) / 2} ${Y(n)} ${(from + x1) / 2} ${Y(k)} ${x1 - 7} ${Y(k)}`, class: path ? "on" : k.ghost ? "ghost" : "off", "stroke-width": (.7 + 4.2 * p).toFixed(2),
        style: `stroke:${path ? "var(--rubric)" : k.ghost ? "var(--hair)" : "var(--cache)"}` });
      draw(k);
    }
    node(n, nodes, on, begin, x(n), Y(n), search);
  };
  draw(top);
  treeNodes.sort((a, b) => a.depth - b.depth || a.y - b.y);
  const here = treeNodes.find(n => !n.ghost && n.t.node === (focusNode ?? now.node)) ?? treeNodes[0];
  for (const n of treeNodes) n.e.setAttribute("tabindex", n === here ? 0 : -1);
  const box = $("tree-box"), at = search ? treeNodes[0] : treeNodes.find(n => !n.ghost && n.t.node === now.node) ?? here;
  if (at) box.scrollLeft = Math.max(0, x(at) - box.clientWidth * .62), box.scrollTop = Math.max(0, Y(at) - box.clientHeight / 2);
  if (svg.dataset.had === "yes") here?.e.focus({ preventScroll: true }), svg.dataset.had = "";
  svg.setAttribute("aria-label", search ? `A search with ${many(now.beams.length, "beam")}. Arrow keys walk, Enter writes the text up to a node.`
    : `The token tree: ${many(tree.length - 1, "node")}, ${many(path().length, "token")} on the way taken. ${many(now.pages, "page")} of the cache, ${now.pages_shared} shared. Arrow keys walk, Enter goes there or opens another way.`);
  $("tree-said").textContent = search ? beamSentence() : sentence();
}
// Subtrees are put as near to each other as their outlines let them: the children of a node stand above and below the one on the path. An
// outline has the highest and the lowest place of each depth below a node, seen from it
function fit(n) {
  const outline = { high: [0], low: [0] };
  if (!n.kids.length) return outline;
  const lines = n.kids.map(fit), at = n.main ? n.kids.indexOf(n.main) : n.kids.length - 1 >> 1, high = [...lines[at].high], low = [...lines[at].low];
  n.kids[at].dy = 0;
  for (const way of [-1, 1]) for (let i = at + way; i >= 0 && i < n.kids.length; i += way) {
    let dy = 0;
    lines[i].high.forEach((h, d) => { if (high[d] !== undefined) dy = way < 0 ? Math.min(dy, high[d] - LINE - lines[i].low[d]) : Math.max(dy, low[d] + LINE - h); });
    n.kids[i].dy = dy;
    lines[i].high.forEach((h, d) => { high[d] = Math.min(high[d] ?? h + dy, h + dy), low[d] = Math.max(low[d] ?? lines[i].low[d] + dy, lines[i].low[d] + dy); });
  }
  return { high: [0, ...high], low: [0, ...low] };
}
const ruler = document.createElement("canvas").getContext("2d");
function textWidth(text, font) {
  if (!ruler) return 8 * text.length;
  ruler.font = font + " " + getComputedStyle(document.body).fontFamily;
  return ruler.measureText(text).width;
}
const wordWidth = n => textWidth(visible(n.t.piece ?? ""), "15px") + 4;
function node(n, parent, on, begin, x, y, search) {
  const path = n.ghost ? false : on.has(n.t.node), here = !search && !n.ghost && n.t.node === now.node, p = n.t.probability;
  const g = drawnIn(parent, "g", { class: "node", role: "treeitem", "aria-level": n.depth + 1, "aria-selected": here });
  const name = n.depth ? visible(n.t.piece) : begin;
  g.setAttribute("aria-label", !n.depth ? "The prompt" : `${name}, probability ${chance(p)}, rank ${n.t.rank}` + (n.ghost ? ", not opened" : path ? ", on the way taken" : ", opened") + (n.t.shared ? `, shares ${many(n.t.shared, "page")}` : ""));
  if (!n.depth) drawnIn(g, "text", { x: x - 8, y: y + 5, "text-anchor": "end", style: "font:italic 16px var(--serif);fill:var(--faint)" }, name);
  else {
    const w = wordWidth(n);
    drawnIn(g, "rect", { class: "ring", x: x - 5, y: y - 11, width: w + 4, height: 22, rx: 2, style: `fill:${here ? "var(--rubric)" : "var(--page)"};stroke:${here || path ? "var(--rubric)" : n.ghost ? "none" : "var(--cache)"};stroke-width:${path ? 1.2 : .8};fill-opacity:${n.ghost ? 0 : 1}` });
    drawnIn(g, "text", { x, y: y + 4.5, style: `font:${path ? 15 : 14}px var(--serif);fill:${here ? "var(--page)" : n.ghost ? "var(--faint)" : path ? "var(--rubric)" : "var(--ink)"}` }, name);
    if (p !== undefined) drawnIn(g, "text", { x: x + w + 4, y: y + (n.ghost ? 4 : -4), style: `font:9.5px var(--sans);fill:var(--faint);stroke:var(--page);stroke-width:3px;paint-order:stroke` }, p >= .9995 ? "1" : p.toFixed(3).replace(/^0/, ""));
    if (n.t.shared && n.t.pages) drawnIn(g, "text", { x: x + w + 4, y: y + 11, style: "font:9.5px var(--sans);fill:var(--key)" }, `${n.t.shared}/${n.t.pages} pages`);
  }
  const it = { ...n, e: g, x, y };
  g.onclick = () => pickNode(it);
  g.onkeydown = e => walk(e, it);
  treeNodes.push(it);
}
const pickNode = guarded(n => {
  pause();
  $("tree-svg-view").dataset.had = "yes";
  focusNode = null;
  if (beamed && now.search?.length) return queued(() => along(n.t));
  return queued(() => n.ghost ? forked(n.parent, n.t.id) : ask("go", { node: n.t.node }).then(r => { lastMs = null; take(r); }));
});
function walk(e, n) {
  const to = m => { if (!m) return; e.preventDefault(), e.stopPropagation(); for (const k of treeNodes) k.e.setAttribute("tabindex", k === m ? 0 : -1); m.e.focus(); };
  const column = treeNodes.filter(m => m.depth === n.depth), at = column.indexOf(n), near = list => list.sort((a, b) => Math.abs(a.y - n.y) - Math.abs(b.y - n.y))[0];
  if (e.key === "Enter" || e.key === " ") e.preventDefault(), e.stopPropagation(), pickNode(n);
  else if (e.key === "ArrowDown") to(column[at + 1]);
  else if (e.key === "ArrowUp") to(column[at - 1]);
  else if (e.key === "ArrowRight") to(near(treeNodes.filter(m => m.depth === n.depth + 1 && (m.ghost ? m.parent : m.t.parent) === n.t.node && !n.ghost)));
  else if (e.key === "ArrowLeft") to(treeNodes.find(m => !m.ghost && m.t.node === (n.ghost ? n.parent : n.t.parent)));
}

// ---- the stages of the sampler at the last choice, with a slider for each
const SLIDERS = { penalties: ["repetition_penalty", 1, 2, .05], temperature: ["temperature", 0, 2, .05], top_k: ["top_k", 0, 40, 1], top_p: ["top_p", .05, 1, .05], min_p: ["min_p", 0, .5, .01], choice: ["seed", 0, 99, 1] };
const pages = () => cache ? `The text has ${many(now.pages, "page")} of the cache, ${now.pages_shared ? now.pages_shared + " of them shared with other ways" : "none of them shared"}.` : "The cache is off (c): each step computes all rows again, and ways share nothing.";
let staging = 0;
async function drawStages() {
  if (view !== "tree" || !now) return;
  const me = ++staging, here = nodeOf(now.node), next = now.step && here && here.parent >= 0, at = next ? here.parent : now.node;
  const got = await stages(at);
  if (me !== staging) return;
  // stages that this page cannot set do nothing, and are left out
  const s = got && { ...got, stages: got.stages.filter(g => g.name === "raw" || SLIDERS[g.name]) };
  $("stages-head").textContent = next ? `How ${quoted(here.piece)} was chosen` : "How the next token will be chosen";
  if (!s) return $("stages").replaceChildren(made("p", "note", "Nothing has been computed here yet: take a step."));
  const table = made("table", "stage-table"), head = made("thead"), tr = made("tr"), body = made("tbody");
  tr.append(made("th", "", ""));
  for (const stage of s.stages) tr.append(stageHead(stage));
  tr.append(stageHead({ name: "choice" }), made("th", "", ""));
  head.append(tr);
  const last = s.stages.at(-1), first = s.stages[0];
  const ids = [...new Set([...first.list.slice(0, 12).map(c => c.id), ...last.list.map(c => c.id)])].slice(0, 14);
  const chosenId = next ? here.id : -1, taken = s.chosen.find(c => next && c.node === here.node);
  const of = new Map();
  for (const stage of s.stages) for (const c of stage.list) if (!of.has(c.id)) of.set(c.id, c);
  for (const id of ids) {
    const row = made("tr", id === chosenId ? "chosen" : ""), c0 = of.get(id);
    row.append(Object.assign(made("th", "", visible(c0.piece)), { scope: "row" }));
    for (const stage of s.stages) row.append(stageCell(stage.list.find(c => c.id === id)));
    row.append(made("td", "", id === chosenId && taken ? taken.why + (taken.noise !== undefined ? `, noise ${taken.noise.toFixed(3)}` : "") : ""));
    const cell = made("td"), b = made("button", "", id === chosenId && next ? "taken" : "go this way");
    b.disabled = id === chosenId && next;
    b.onclick = guarded(() => queued(() => forked(at, id)));
    cell.append(b), row.append(cell), body.append(row);
  }
  const rest = made("tr");
  rest.append(Object.assign(made("th", "", "all others"), { scope: "row" }));
  for (const stage of s.stages) rest.append(stageCell({ probability: stage.rest }));
  rest.append(made("td"), made("td")), body.append(rest);
  table.append(head, body);
  const scroll = made("div", "scroll"), focused = document.activeElement?.dataset?.setting;
  scroll.append(table);
  const c = now.choice, parts = [scroll];
  if (next && c && c.id === here.id) parts.unshift(made("p", "", `${quoted(here.piece)}: probability ${chance(c.probability)}, log-probability ${c.logprob.toFixed(4)}, rank ${c.rank}; ${c.why}.` + ` ${pages()}`));
  else if (next) parts.unshift(made("p", "", `${quoted(here.piece)}: probability ${chance(here.probability)}, log-probability ${here.logprob.toFixed(4)}, rank ${here.rank}; opened by hand. ${pages()}`));
  $("stages").replaceChildren(...parts);
  if (focused) document.querySelector(`[data-setting="${focused}"]`)?.focus();
}
function stageHead(stage) {
  const th = made("th"), s = SLIDERS[stage.name];
  th.scope = "col";
  th.append(made("b", "", { raw: "the model", penalties: "repetition", choice: "seed, and why" }[stage.name] ?? stage.name.replace("_", "-")));
  if (!s) return th;
  const [key, min, max, step] = s, input = Object.assign(document.createElement("input"), { type: "range", min, max, step, value: settings[key] }), out = made("output", "", settings[key]);
  input.dataset.setting = key;
  input.setAttribute("aria-label", key.replaceAll("_", " "));
  input.oninput = () => { out.textContent = input.value; };
  input.onchange = guarded(() => queued(() => set({ [key]: input.value })));
  th.append(input, out);
  return th;
}
function stageCell(c) {
  if (!c) return made("td", "none", "–");
  const td = made("td"), bar = made("i");
  if (c.probability > 0) { bar.style.width = (52 * c.probability).toFixed(1) + "px"; td.append(bar); }
  td.append(c.probability === 0 ? "0" : chance(c.probability));
  if (c.rank) td.title = `log-probability ${c.logprob.toFixed(4)}, rank ${c.rank}`;
  return td;
}

// ---- beams, the picture, the command
let beamed = null;
async function beams() {
  if (beamed) { beamed = null; return take(await ask("go", { node: now.node })); }
  const width = Math.max(1, Math.min(8, Number($("beam-width").value))), steps = Math.max(1, Math.min(32, Number($("beam-steps").value)));
  const r = await ask("beams", { width, steps });
  beamed = { width, steps, node: now.node };
  take(r);
}
const beamSentence = () => `${many(now.beams.length, "beam")}, ${many(beamed.steps, "step")}, ${grouped(now.beams_compute)} multiply-adds. The likeliest text that was found: “${now.beams[0].pieces.slice(-beamed.steps).join("").trim()}”, log-probability ${now.beams[0].sum.toFixed(4)}`
  + (now.beams.length > 1 ? `; the last of the beams: “${now.beams.at(-1).pieces.slice(-beamed.steps).join("").trim()}”, ${now.beams.at(-1).sum.toFixed(4)}.` : ".");
async function along(t) {                  // what a search has found is written, token by token
  const ids = [];
  for (let k = t; k; k = now.search.find(s => s.node === k.parent)) ids.unshift(k.id);
  beamed = null;
  for (const id of ids.filter(id => id !== undefined)) await forked(now.node, id);
}
function treeCommand() {
  if (!beamed) return command("generate");
  return `incipit generate ${path().length ? "--prompt-ids " + now.ids.join(",") : "-p " + shell(prompt)} -n ${beamed.steps} --num-beams ${beamed.width}`;
}
function treeSvg() {
  const copy = $("tree-svg-view").cloneNode(true), style = getComputedStyle(document.documentElement);
  const values = t => t.replace(/var\((--\w+)\)/g, (_, v) => style.getPropertyValue(v).trim().replaceAll('"', "'"));
  for (const e of copy.querySelectorAll("[style]")) e.setAttribute("style", values(e.getAttribute("style")));
  for (const a of ["role", "aria-label", "id", "data-had"]) copy.removeAttribute(a);
  for (const e of copy.querySelectorAll("*")) for (const a of ["tabindex", "role", "aria-level", "aria-selected"]) e.removeAttribute(a);
  copy.setAttribute("xmlns", SVG);
  const box = copy.viewBox.baseVal, back = document.createElementNS(SVG, "rect"), title = document.createElementNS(SVG, "title"), desc = document.createElementNS(SVG, "desc");
  for (const [k, v] of Object.entries({ width: box.width, height: box.height, fill: values("var(--page)") })) back.setAttribute(k, v);
  title.textContent = "A token tree", desc.textContent = treeCommand();
  copy.prepend(title, desc, back);
  return new XMLSerializer().serializeToString(copy);
}
function saveTree() {
  const a = made("a");
  a.href = URL.createObjectURL(new Blob([treeSvg()], { type: "image/svg+xml" })), a.download = "token-tree.svg";
  document.body.append(a), a.click(), a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 5000);
}
