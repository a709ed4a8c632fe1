// scene.js -- the cache in three dimensions, by WebGL2 and nothing else: cubes that are instances of one cube, beams, and the write head.
// Labels are HTML over it. What is drawn changes with a step; a frame moves the camera and the clock, and allocates nothing.
"use strict";
const MOST = 1024, LAYERS = 6, HEADS = 4, SEGMENTS = 28, LABELS = 400;
// what a block is; the shader has the same numbers
const READ = 0, WRITTEN = 1, HELD = 2, NEW = 3, REDONE = 4, PASSED = 5, EMPTY = 6, RULE = 7;
const layerY = l => l ? -.27 - .25 * l : 0, layerZ = l => l ? .52 + .25 * (l - 1) : 0;
const HEAD_Y = 1.75;

const COMMON = `#version 300 es
precision highp float;
uniform mat4 view; uniform vec4 ink[10]; uniform vec4 moment; uniform vec3 chosen, head, right, up; uniform vec4 screen;
#define done moment.x
#define wait moment.y
#define beat moment.z
#define drop moment.w
#define fan chosen.z
`;
const BLOCKS = COMMON + `
layout(location=0) in vec4 what;                     // position, layer (0: the token), kind, length of a rule
out vec3 tint, normal; out vec2 face, half_size; out float solid, mark;
const int corner[36] = int[36](0,2,1,1,2,3, 4,5,6,5,7,6, 0,1,4,1,5,4, 2,6,3,3,6,7, 0,4,2,2,4,6, 1,3,5,3,7,5);
const vec3 normals[6] = vec3[6](vec3(0,0,-1), vec3(0,0,1), vec3(0,-1,0), vec3(0,1,0), vec3(-1,0,0), vec3(1,0,0));
void main() {
  int c = corner[gl_VertexID], side = gl_VertexID / 6, kind = int(what.z);
  vec3 s = vec3(c & 1, c >> 1 & 1, c >> 2 & 1) * 2. - 1.;
  float layer = what.y;
  vec3 size = layer < .5 ? vec3(.37, .24, .37) : vec3(.31, .08, .31), at = vec3(what.x, layer < .5 ? 0. : -.27 - .25 * layer, 0);
  if (layer > .5) at.z = fan * (.52 + .25 * (layer - 1.)), size.z = mix(size.z, .1, fan), at.y *= 1. - .9 * fan;     // from above, layers lie side by side
  solid = 1.;
  if (kind == 7) { size = vec3(what.w * .5, .006, .006); at = vec3(what.x, -2.08, .0); }
  if (kind == 3 || kind == 5) {                      // a row is computed layer by layer, from the top down
    float grown = smoothstep(.08 + .07 * layer, .2 + .07 * layer, done);
    solid = mix(.1, 1., grown);
  }
  if (kind == 4) solid = done < .999 ? .62 + .38 * beat : .14;            // computed again, used, thrown away
  if (kind == 5 && done > .999) solid = .14;
  if (kind == 6) solid = .05;
  if (layer < .5 && abs(what.x - drop) < .5) {       // the token that falls into its place
    float fall = smoothstep(.6, 1., done);
    at.y += (1. - fall) * 1.1; size *= smoothstep(.55, .75, done);
  }
  if (kind == 6 && abs(what.x - drop) < .5) size *= step(.97, done);
  tint = ink[kind].rgb;
  if (wait > .5 && layer > .5 && what.x < head.x - .5) { tint = ink[4].rgb; solid = .45 + .55 * beat; }
  mark = abs(what.x - chosen.x) < .5 && abs(layer - chosen.y) < .5 ? 1. : 0.;
  normal = normals[side];
  face = side < 2 ? s.xy : side < 4 ? s.xz : s.yz;
  half_size = side < 2 ? size.xy : side < 4 ? size.xz : size.yz;
  gl_Position = view * vec4(at + s * size, 1);
}`;
const BLOCK_INK = COMMON + `
in vec3 tint, normal; in vec2 face, half_size; in float solid, mark; out vec4 colour;
void main() {
  vec2 in_ = (1. - abs(face)) * half_size;
  float edge = min(in_.x, in_.y), wide = max(fwidth(edge), .0005) * (mark > .5 ? 2.6 : 1.15), line = 1. - smoothstep(wide * .5, wide * 1.5, edge);
  float light = .80 + .20 * normal.y + .07 * normal.z - .05 * normal.x;
  vec3 body = mix(ink[8].rgb, tint, .93) * light + (1. - ink[8].a) * .05 * max(0., normal.y);
  float a = solid;
  vec3 c = body;
  if (mark > .5) { c = mix(c, ink[7].rgb, line); a = max(a, line); }
  else { c = mix(c, mix(tint, ink[7].rgb, .25), line * .55); a = max(a, line * .75); }
  colour = vec4(c * a, a);
}`;
const BEAMS = COMMON + `
layout(location=0) in vec2 look;                     // the position looked at, and how much
out float along, across, weight;
vec3 place(float t, vec3 from, vec3 by, vec3 to) { return mix(mix(from, by, t), mix(by, to, t), t); }
void main() {
  along = float(gl_VertexID / 2) / ${SEGMENTS}.; across = float(gl_VertexID & 1) * 2. - 1.; weight = look.y;
  vec3 from = head, to = vec3(look.x, .27, 0);
  float far = abs(from.x - to.x), bow = 5.2 * (1. - exp(-far / 11.));
  vec3 by = vec3(mix(from.x, to.x, .5), from.y + .16 * bow + .1, -.85 * bow);
  vec4 a = view * vec4(place(along, from, by, to), 1), b = view * vec4(place(along + .02, from, by, to), 1);
  vec2 way = (b.xy / b.w - a.xy / a.w) * screen.xy;
  float l = length(way);
  vec2 n = l > 1e-6 ? vec2(-way.y, way.x) / l : vec2(1, 0);
  float px = (1.1 + 6.5 * weight) * screen.z;
  a.xy += n * across * px / screen.xy * a.w;
  gl_Position = a;
}`;
const BEAM_INK = COMMON + `
in float along, across, weight; out vec4 colour;
void main() {
  if (along > smoothstep(.3, .66, done) * 1.001) discard;
  float a = min(1., 1.05 * pow(weight, .62)) * (1. - across * across * .55);
  colour = vec4(ink[9].rgb * a, a);
}`;
const HEAD = COMMON + `
out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2. - 1.;
  gl_Position = view * vec4(head + (right * at.x + up * at.y) * .62, 1);
}`;
const HEAD_INK = COMMON + `
in vec2 at; out vec4 colour;
void main() {
  float r = length(at) * .62 / .19, w = fwidth(r), disc = 1. - smoothstep(1. - w, 1. + w, r), halo = .34 * exp(-2.1 * max(0., r - .9));
  float z = sqrt(max(0., 1. - r * r));
  vec3 c = ink[9].rgb * (.72 + .4 * z) + .16 * smoothstep(.55, 0., length(at * 3.2 - vec2(-.35, .4)));
  float a = max(disc, halo * (1. - smoothstep(.75, 1., length(at))));
  colour = vec4(mix(ink[9].rgb, c, disc) * a, a);
}`;

function makeScene(canvas, box) {
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
  if (!gl) return null;
  const NAMES = ["view", "ink", "moment", "chosen", "head", "screen", "right", "up"];
  const program = (vertex, fragment) => {
    const p = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(type);
      gl.shaderSource(s, text);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const of = {};
    for (const n of NAMES) of[n] = gl.getUniformLocation(p, n);
    return { p, of };
  };
  const drawn = { blocks: program(BLOCKS, BLOCK_INK), beams: program(BEAMS, BEAM_INK), head: program(HEAD, HEAD_INK) };
  // instances: blocks of four numbers, beams of two
  const blocks = new Float32Array(4 * (MOST * (LAYERS + 1) + 1)), beams = new Float32Array(2 * MOST);
  const kept = (data, size) => {
    const array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data.byteLength, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, size, gl.FLOAT, false, 0, 0);
    gl.vertexAttribDivisor(0, 1);
    return { array, buffer };
  };
  const forBlocks = kept(blocks, 4), forBeams = kept(beams, 2), nothing = gl.createVertexArray();

  // ---- what is shown
  let tokens = 0, nBlocks = 0, nBeams = 0, from = -1, query = 0, drop = -9, changed = true, animating = false, waiting = false, still = false;
  let wide = 1, high = 1, ratio = 1;
  // numbers that change with a frame stand in arrays: a variable with a fraction would be allocated anew
  const BEGAN = 0, LASTS = 1, LAST = 2, NOW = 3, PULSE = 4, time = new Float64Array([0, 1, 0, 0, 1]);
  const ink = new Float32Array(40), view = new Float32Array(16), headAt = new Float32Array([0, HEAD_Y, 0]), chosen = new Float32Array([-9, -9, 0]), moment = new Float32Array([1, 0, 1, -9]);
  const screen = new Float32Array(4), right = new Float32Array(3), up = new Float32Array(3);
  // the camera, and where it is going: place along the axis, height, yaw, pitch, how many tokens are seen; half the angle of its lens, how far
  // the layers are fanned out, how many times as high as wide a unit is
  const X = 0, Y = 1, YAW = 2, PITCH = 3, SPAN = 4, LENS = 5, FAN = 6, TALL = 7;
  const cam = new Float64Array([0, -.2, .5, .35, 10, .24, 0, 1]), goal = new Float64Array(8), own = new Float64Array(8), eye = new Float64Array(3), mid = new Float64Array(2);
  let preset = "follow", first = true;
  const count = { frames: 0, draws: 0, ms: 0, most: 0 };

  function colours() {
    const probe = document.createElement("i");
    probe.hidden = true;
    canvas.parentNode.append(probe);
    const read = (k, name, dim = 0) => {
      probe.style.color = `color-mix(in srgb, var(${name}) ${100 - 100 * dim}%, var(--page))`;
      const c = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number), unit = getComputedStyle(probe).color.startsWith("color") ? 1 : 255;
      for (let i = 0; i < 3; i++) ink[4 * k + i] = c[i] / unit;
      ink[4 * k + 3] = 1;
    };
    read(READ, "--rubric", .52), read(WRITTEN, "--rubric"), read(HELD, "--cache"), read(NEW, "--once"), read(REDONE, "--redo"), read(PASSED, "--once"), read(EMPTY, "--faint"),
    read(RULE, "--ink", .25), read(8, "--page"), read(9, "--query");
    ink[35] = matchMedia("(prefers-color-scheme: dark)").matches ? 0 : 1;
    probe.remove();
    changed = true;
  }
  function size() {
    ratio = Math.min(2, devicePixelRatio || 1);
    wide = Math.max(1, canvas.clientWidth), high = Math.max(1, canvas.clientHeight);
    canvas.width = Math.round(wide * ratio), canvas.height = Math.round(high * ratio);
    changed = true;
  }

  // ---- labels: a pool of elements; where the typed object model is, placing one allocates nothing
  const label = [], words = [], lx = [], ly = [], moved = [], shown = new Uint8Array(LABELS), wasX = new Int32Array(LABELS).fill(-99999), wasY = new Int32Array(LABELS).fill(-99999);
  const typed = "attributeStyleMap" in box && typeof CSSTranslate === "function";
  let firstLabel = 0, slanted = -1;
  for (let k = 0; k < LABELS; k++) {
    const e = document.createElement("span"), b = e.appendChild(document.createElement("b"));
    e.hidden = true;
    box.append(e);
    label.push(e), words.push(b);
    if (typed) {
      const t = new CSSTranslate(CSS.px(0), CSS.px(0));
      lx.push(t.x), ly.push(t.y), moved.push(new CSSTransformValue([t]));
    }
  }
  function put(k) {                        // at the point p, in whole pixels
    const x = Math.round(p[0]), y = Math.round(p[1]);
    if (x === wasX[k] && y === wasY[k]) return;
    wasX[k] = x, wasY[k] = y;
    if (typed) {
      lx[k].value = x, ly[k].value = y;
      label[k].attributeStyleMap.set("transform", moved[k]);
    } else label[k].style.transform = "translate(" + x + "px," + y + "px)";
  }
  function project(x, y, z, out) {
    const w = view[3] * x + view[7] * y + view[11] * z + view[15];
    out[0] = (view[0] * x + view[4] * y + view[8] * z + view[12]) / w * .5 * wide + .5 * wide;
    out[1] = -(view[1] * x + view[5] * y + view[9] * z + view[13]) / w * .5 * high + .5 * high;
    return w > 0;
  }
  const p = new Float64Array(2), p2 = new Float64Array(2);
  function placeLabels() {
    const middle = Math.round(cam[X]);
    project(middle, 0, 0, p), project(middle + 1, 0, 0, p2);
    const dx = p2[0] - p[0], dy_ = p2[1] - p[1], spacing = Math.sqrt(dx * dx + dy_ * dy_);
    const lean = spacing > 50 ? 0 : spacing > 11 ? 1 : 2, above = cam[PITCH] > 1.1;
    if (lean !== slanted) slanted = lean, box.className = lean === 0 ? "" : lean === 1 ? "lean" : "none";
    const dy = above ? .5 : .36;
    for (let k = 0; k < LABELS; k++) {
      const i = firstLabel + k, e = k < tokens - firstLabel;
      let see = 0;
      if (e && lean < 2 && project(i, above ? .25 : dy, above ? -dy : 0, p) && p[0] > -40 && p[0] < wide + 40 && !(i === drop && animating && moment[0] < .8)) see = 1;
      if (see) put(k);
      if (see !== shown[k]) shown[k] = see, label[k].hidden = !see;
    }
  }

  // ---- the camera
  function aim() {
    // as near as the height allows, as far as there are tokens to see; a long text is seen at its end
    const room = wide / high, least = 4.9 * room, most = Math.max(least, Math.min(17, wide / 60)), n = Math.max(4, tokens), head = Math.max(0, query);
    let span = Math.max(least, Math.min(most, n + 3.5));
    goal[YAW] = 0, goal[PITCH] = .06, goal[Y] = -.2, goal[LENS] = .24, goal[FAN] = 0, goal[TALL] = 1;
    if (preset === "follow") goal[YAW] = .28, goal[PITCH] = .3;
    else if (preset === "above") goal[PITCH] = Math.PI / 2, goal[Y] = 0, goal[LENS] = .06, goal[FAN] = 1;
    else if (preset === "all") goal[YAW] = .1, goal[PITCH] = .3, goal[LENS] = .16, span = Math.max(least, n * 1.05 + 2), goal[TALL] = Math.max(1, Math.min(4, .62 * span / least));
    goal[SPAN] = span;
    goal[X] = preset === "all" || n < span - 3 ? (n - 1) / 2 : head + 1.2 - .36 * span;
    for (let k = 0; k < 4; k++) goal[k] += own[k];
    goal[SPAN] *= Math.exp(own[SPAN]);
    goal[PITCH] = Math.max(-.2, Math.min(Math.PI / 2, goal[PITCH]));
  }
  function look() {
    aim();
    let moving = false;
    const by = first || still ? 1 : 1 - Math.exp(-Math.min(100, time[NOW] - time[LAST]) / 190);
    first = false;
    for (let k = 0; k < 8; k++) {
      const d = goal[k] - cam[k];
      if (Math.abs(d) > (k === SPAN ? .004 : .0008)) cam[k] += d * by, moving = moving || by < 1;
      else cam[k] = goal[k];
    }
    const F = cam[LENS], room = wide / high, sx = 1 / (Math.tan(F) * room), sy = 1 / Math.tan(F), far = cam[SPAN] / 2 * sx;
    const cy = Math.cos(cam[YAW]), sn = Math.sin(cam[YAW]), cp = Math.cos(cam[PITCH]), sp = Math.sin(cam[PITCH]);
    const dx = sn * cp, dy = sp, dz = cy * cp, tz = .1 * cam[FAN];
    eye[0] = cam[X] + far * dx, eye[1] = cam[Y] + far * dy, eye[2] = tz + far * dz;
    right[0] = cy, right[1] = 0, right[2] = -sn;
    up[0] = -sn * sp, up[1] = cp, up[2] = -cy * sp;
    const near = .5, z1 = (4 * far + near) / (4 * far - near), z0 = -2 * 4 * far * near / (4 * far - near);
    const re = right[0] * eye[0] + right[2] * eye[2], ue = up[0] * eye[0] + up[1] * eye[1] + up[2] * eye[2], fe = -(dx * eye[0] + dy * eye[1] + dz * eye[2]);
    view[0] = sx * right[0], view[4] = 0, view[8] = sx * right[2], view[12] = -sx * re;
    view[1] = sy * up[0], view[5] = sy * up[1], view[9] = sy * up[2], view[13] = -sy * ue;
    view[3] = -dx, view[7] = -dy, view[11] = -dz, view[15] = -fe;
    view[4] *= cam[TALL], view[5] *= cam[TALL], view[7] *= cam[TALL], up[1] /= cam[TALL];
    view[2] = z1 * view[3], view[6] = z1 * view[7], view[10] = z1 * view[11], view[14] = z1 * view[15] + z0;
    return moving;
  }

  // ---- a frame
  function use(d) {
    gl.useProgram(d.p);
    gl.uniformMatrix4fv(d.of.view, false, view);
    gl.uniform4fv(d.of.ink, ink);
    gl.uniform4fv(d.of.moment, moment);
    gl.uniform3fv(d.of.chosen, chosen);
    gl.uniform3fv(d.of.head, headAt);
    gl.uniform4fv(d.of.screen, screen);
    gl.uniform3fv(d.of.right, right);
    gl.uniform3fv(d.of.up, up);
  }
  function paint() {
    const moving = look();
    time[LAST] = time[NOW];
    let done = 1;
    if (animating) {
      done = (time[NOW] - time[BEGAN]) / time[LASTS];
      if (done >= 1) done = 1, animating = false;
    }
    moment[0] = done, moment[1] = waiting ? 1 : 0, moment[3] = drop, chosen[2] = cam[FAN];
    moment[2] = still || time[PULSE] === 0 ? 1 : waiting ? .5 - .5 * Math.cos((time[NOW] - time[BEGAN]) * .0088) : 1 - time[PULSE] * (.5 + .5 * Math.cos(done * Math.PI * 2)) * (done < .999 ? 1 : 0);
    // the head goes to the row that asks, rises, and looks
    const go = Math.min(1, done / .3), s = go * go * (3 - 2 * go);
    headAt[0] = from + (query - from) * s;
    headAt[1] = HEAD_Y - .5 * (1 - s) + (from === query ? 0 : .25 * Math.sin(Math.PI * go));
    screen[0] = wide / 2, screen[1] = high / 2, screen[2] = 1;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    count.draws = 0;
    if (nBlocks) {
      use(drawn.blocks);
      gl.bindVertexArray(forBlocks.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, 36, nBlocks);
      count.draws++;
    }
    gl.depthMask(false);
    if (nBeams && !waiting && moment[0] > .3) {
      use(drawn.beams);
      gl.bindVertexArray(forBeams.array);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 2 * (SEGMENTS + 1), nBeams);
      count.draws++;
    }
    if (nBlocks) {
      use(drawn.head);
      gl.bindVertexArray(nothing);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      count.draws++;
    }
    gl.depthMask(true);
    placeLabels();
    return moving || animating || waiting;
  }
  let live = true;
  function frame(now) {
    requestAnimationFrame(frame);
    if (!changed && !live) return;
    const t = performance.now();
    changed = false;
    time[NOW] = now;
    live = paint();
    const ms = performance.now() - t;
    count.frames++, count.ms += .1 * (ms - count.ms);
    if (ms > count.most) count.most = ms;
  }

  // ---- the outside
  const put4 = (i, l, kind, length) => {
    const at = 4 * nBlocks++;
    blocks[at] = i, blocks[at + 1] = l, blocks[at + 2] = kind, blocks[at + 3] = length;
  };
  const spelt = piece => {
    const t = piece.replace(/^bytes:(?=\\x)/, "");
    return /^\s*$/.test(t) ? t.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥") : t.trim();
  };
  const api = {
    count,
    // what: pieces, prompt, work (of the rows that were read), kept, over: how long the step is shown, in ms
    show(what) {
      const n = Math.min(MOST, what.pieces.length), rows = what.work.length, before = query;
      tokens = n, nBlocks = 0;
      query = Math.max(0, (rows || what.prompt) - 1);
      from = what.over && query > before && query - before < 3 ? before : query;
      drop = what.over && n > rows ? n - 1 : -9;
      for (let i = 0; i < n; i++) put4(i, 0, i < what.prompt ? READ : WRITTEN, 0);
      for (let i = 0; i < n; i++) {
        const w = what.work[i], kind = w === "cached" ? HELD : w === "redo" ? REDONE : w === "new" ? (what.kept ? NEW : PASSED) : EMPTY;
        if (kind !== EMPTY) for (let l = 1; l <= LAYERS; l++) put4(i, l, kind, 0);
      }
      for (let i = 0; i < n; i++) if (!what.work[i]) for (let l = 1; l <= LAYERS; l++) put4(i, l, EMPTY, 0);
      put4(Math.max(8, n) / 2 - .5, 7, RULE, Math.max(8, n) + .4);
      gl.bindBuffer(gl.ARRAY_BUFFER, forBlocks.buffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, blocks, 0, 4 * nBlocks);
      firstLabel = Math.max(0, n - LABELS);
      for (let k = 0; k < LABELS; k++) {
        const i = firstLabel + k, text = i < n ? spelt(what.pieces[i]) : "";
        if (words[k].textContent !== text) words[k].textContent = text;
        const side = i < what.prompt ? "read" : "";
        if (label[k].className !== side) label[k].className = side;
      }
      waiting = false;
      time[LASTS] = Math.max(1, what.over || 1), time[BEGAN] = performance.now(), animating = !!what.over && !still;
      time[PULSE] = still ? 0 : Math.max(0, Math.min(1, (time[LASTS] - 200) / 300));      // no more than two flashes a second
      changed = true;
    },
    looks(weights) {                                   // one number for each position
      nBeams = weights ? Math.min(MOST, weights.length) : 0;
      for (let i = 0; i < nBeams; i++) beams[2 * i] = i, beams[2 * i + 1] = weights[i];
      gl.bindBuffer(gl.ARRAY_BUFFER, forBeams.buffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, beams, 0, 2 * nBeams);
      changed = true;
    },
    wait(yes) { waiting = yes, time[BEGAN] = performance.now(), time[PULSE] = 1, changed = true; },
    get camera() { return preset; },
    set camera(name) { if (["follow", "side", "above", "all"].includes(name)) preset = name, own.fill(0), changed = true; },
    turn(dx, dy) { own[YAW] -= dx * .006, own[PITCH] += dy * .006, changed = true; own[PITCH] = Math.max(-2, Math.min(2, own[PITCH])); },
    pan(tokens) { own[X] += tokens, changed = true; },
    zoom(by) { own[SPAN] = Math.max(-1.6, Math.min(2.2, own[SPAN] + by)), changed = true; },
    get perPixel() { return cam[SPAN] / wide; },
    choose(i, l) { chosen[0] = i, chosen[1] = l, changed = true; },
    bring(i) {                                         // a chosen block comes into view
      aim();
      if (Math.abs(i - goal[X]) > .42 * goal[SPAN]) own[X] += i - goal[X], changed = true;
    },
    where(i, l) { project(i, layerY(l) * (l ? 1 - .9 * cam[FAN] : 1), layerZ(l) * cam[FAN], p); return [p[0], p[1]]; },
    pick(x, y) {                                       // which block is under a point: the first that its ray meets
      const tall = cam[TALL], t = Math.tan(cam[LENS]), a = (x / wide * 2 - 1) * t * wide / high, b = (1 - y / high * 2) * t;
      const to = [cam[X], cam[Y], 0.1 * cam[FAN]], away = cam[SPAN] / 2 / (t * wide / high);
      const d = to.map((c, k) => (c - eye[k]) / away + a * right[k] + b * up[k] * (k === 1 ? tall : 1));
      let best = null, near = Infinity;
      for (let k = 0; k < nBlocks; k++) {
        const i = blocks[4 * k], l = blocks[4 * k + 1];
        if (l > LAYERS) continue;
        const f = l ? cam[FAN] : 0, half = l ? [.33, .12 * tall, .33 - .2 * f] : [.39, .26 * tall, .39], c = [i, layerY(l) * tall * (1 - .9 * f), layerZ(l) * f];
        let t0 = 0, t1 = Infinity;
        for (let q = 0; q < 3; q++) {
          const u = (c[q] - half[q] - eye[q]) / d[q], v = (c[q] + half[q] - eye[q]) / d[q];
          t0 = Math.max(t0, Math.min(u, v)), t1 = Math.min(t1, Math.max(u, v));
        }
        if (t0 < t1 && t0 < near) near = t0, best = { position: i, layer: l };
      }
      return best;
    },
    colours, size,
    calm(yes) { still = yes, changed = true; },
    get resting() { return !animating && !waiting; },
    // for the test: frames at once, the camera turning; how many draw calls, and how long the script of one takes. A dry run draws one block
    // and one beam: the script does the same, and a renderer by software has less to do
    measure(frames, dry) {
      const all = nBlocks, looks = nBeams;
      if (dry) nBlocks = nBeams = 1;
      gl.enable(gl.SCISSOR_TEST), gl.scissor(0, 0, 1, 1);                 // what is measured is the script, and not a renderer
      const t = performance.now();
      for (let k = 0; k < frames; k++) own[YAW] += k & 1 ? .01 : -.01, first = true, paint();
      const ms = (performance.now() - t) / frames;
      gl.disable(gl.SCISSOR_TEST), gl.finish(), nBlocks = all, nBeams = looks, changed = true;
      return { draws: count.draws, ms, blocks: nBlocks };
    },
  };
  canvas.addEventListener("webglcontextlost", e => e.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());      // the address leads back here
  colours(), size();
  new ResizeObserver(size).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colours);
  requestAnimationFrame(frame);
  return api;
}
