"""living_page.py INCIPIT CHROMIUM PAGE [PICTURES] -- the living figures in a browser that nobody sees, opened from the disk: the numbers are those of
incipit trace, back and fork do what they say, an address leads to the same place, all can be reached by keys, a frame costs what it may, and
what a browser may lack is said. With PICTURES, a folder: pictures of the states are put there instead. CHROMIUM may be a Firefox: then its numbers are
looked at, and no more."""
import json, os, shlex, struct, subprocess, sys, tempfile, time
import xml.etree.ElementTree as xml
import browser
from browser import Browser

incipit, chromium, page = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
firefox = "firefox" in os.path.basename(chromium)
if firefox:                                  # the parts that look at numbers alone
    from firefox import Browser
pictures = sys.argv[4] if len(sys.argv) > 4 else None
room = tempfile.mkdtemp(prefix="living.")
# WebGL2 by software, where there is no device
browser.FLAGS = [f for f in browser.FLAGS if f != "--disable-gpu"] + ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
PROMPTS = ["The cat sat on the mat.", "def count_apples(box):", "In a small kingdom by the sea,"]
FORK = "The harvest of the kingdom was very good."


def check(what, got=True, wanted=True):
    if got != wanted:
        if isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):       # where they differ says more
            got, wanted = next((g, w) for g, w in zip(got, wanted) if g != w)
        raise SystemExit(f"FAILED: {what}: {str(got)[:600]!r}, and not {str(wanted)[:600]!r}")
    print("ok", what)


def at_most(what, got, most):
    if not got <= most:
        raise SystemExit(f"FAILED: {what}: {got}; wanted: no more than {most}")
    print("ok", what, f"({got:.4g} of {most})")


def traced(prompt, n, *options):
    return json.loads(subprocess.run([incipit, "trace", "-p", prompt, "-n", str(n), "--json", *options], capture_output=True, text=True, check=True).stdout)


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class Page:
    def __init__(self, address="", before="", media=(("prefers-reduced-motion", "reduce"),), wide=720, high=560):
        # small, and without motion: where there is no device, pictures are drawn by the processor
        self.b = b = Browser(chromium, tempfile.mkdtemp(dir=room))
        b.call("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=wide < 600)
        b.call("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in media])
        if before:
            b.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        b.open("file://" + page + address)
        self.js, self.until, self.key = b.js, b.until, b.key

    def ready(self):
        why = self.until("document.body.dataset.ready ?? (document.getElementById('wrong').hidden ? '' : document.getElementById('wrong').textContent)", 180)
        if why != "yes":
            raise SystemExit("FAILED: the page says " + why)
        return self

    def do(self, call):
        return self.js(f"incipit.{call}")

    def steps(self, n):
        return self.js(f"(async () => {{ const all = []; for (let i = 0; i < {n}; i++) all.push(await incipit.step()); return all; }})()")

    def settled(self):                    # nothing is waited for that a frame has not shown
        self.until("incipit.resting()")

    def clean(self, what):
        if firefox:
            return print("NOT RUN:", what + ": the console, which Firefox does not tell")
        bad = [e for e in self.b.events if e["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled") or
               e["method"] == "Log.entryAdded" and e["params"]["entry"]["level"] in ("error", "warning")]
        # Chromium tells that its software renderer is read from; that is a remark on the test
        bad = [e for e in bad if "GPU stall due to ReadPixels" not in str(e)]
        check(what + ": the console is empty", bad, [])
        asked = {e["params"]["request"]["url"].split(":")[0] for e in self.b.events if e["method"] == "Network.requestWillBeSent"}
        check(what + ": nothing comes from elsewhere", asked <= {"file", "blob", "data"})

    def close(self):
        self.b.close()


def same_steps(got, want, what):
    """fields of the page's step and those of trace; a look has four bytes a number there and is printed with nine digits"""
    for g, w in zip(got, want):
        w = dict(w, attention=[])
        check(f"{what}, step {w['step']}", g["step"], w)


def numbers_are_the_commands():
    p = Page().ready()
    check("window.incipit has what it promises", p.js("['ready', 'set', 'step', 'back', 'fork', 'state'].filter(k => !(k in incipit))"), [])
    for prompt in PROMPTS:
        p.do("set({cache: true, temperature: 0, prompt: %s})" % json.dumps(prompt))
        t = traced(prompt, 10, "--cache", "--attention", "2.1")
        got = p.steps(10)
        check(f"{prompt}: ids", got[-1]["ids"], t["prompt_ids"] + [s["chosen"]["id"] for s in t["steps"]])
        same_steps(got, t["steps"], prompt + " with the cache")
        for g, s in zip(got, t["steps"]):
            check(f"{prompt}: attention, step {s['step']}", [single(x) for x in g["attention"][2][1]], [single(x) for x in s["attention"]])
        madds = [sum(s["counters"][k] for k in ("madds_linear", "madds_attention", "madds_head")) for s in t["steps"]]
        check(f"{prompt}: COMPUTE a step", [g["compute_step"] for g in got], madds)
        check(f"{prompt}: COMPUTE", got[-1]["compute"], sum(madds))
        check(f"{prompt}: KV_CACHE", [g["kv_cache_bytes"] for g in got], [s["cache_bytes"] for s in t["steps"]])
        check(f"{prompt}: SEQ_LEN is prompt and written", [g["seq_len"] for g in got], [len(t["prompt_ids"]) + k + 1 for k in range(10)])
        check(f"{prompt}: blocks", got[-1]["blocks"], 6 * (len(t["prompt_ids"]) + 9))
        hashes = [g["logits_hash"] for g in got]
        p.do("set({cache: false, prompt: %s})" % json.dumps(prompt))
        got = p.steps(10)
        same_steps(got, traced(prompt, 10)["steps"], prompt + " without it")
        check(f"{prompt}: the same bits with and without the cache", [g["logits_hash"] for g in got], hashes)
        check(f"{prompt}: blocks without the cache", got[-1]["blocks"], 6 * sum(range(len(t["prompt_ids"]), len(t["prompt_ids"]) + 10)))
        check(f"{prompt}: without it nothing is kept", [g["kv_cache_bytes"] for g in got], [0] * 10)
    p.do("set({cache: true, temperature: .9, seed: 7, prompt: %s})" % json.dumps(FORK))
    same_steps(p.steps(6), traced(FORK, 6, "--cache", "--temperature", "0.9", "--seed", "7")["steps"], "drawn")
    # what stands on the page is what the object says
    s = p.do("state()")
    shown = p.js("['seq-len', 'kv-cache', 'compute', 'compute-step'].map(id => Number(document.getElementById(id).textContent.replaceAll(',', '')))")
    check("the four counters on the page", shown, [s["seq_len"], s["kv_cache_bytes"], s["compute"], s["compute_step"]])
    p.clean("numbers")
    p.close()


def back_and_fork():
    p = Page().ready()
    same = lambda s: {k: s[k] for k in ("ids", "seq_len", "logits_hash", "hash_all", "compute", "step")}
    before = p.steps(4)
    p.steps(1)
    check("back is where it was", same(p.do("back()")), same(before[3]))
    check("and forward again", same(p.steps(1)[0])["ids"][:-1], before[3]["ids"])
    p.do("set({prompt: %s, temperature: 0})" % json.dumps(FORK))
    one = p.steps(5)[-1]
    other = p.do("stages(0)")["stages"][0]["top" if "top" in p.do("stages(0)")["stages"][0] else "list"][1]
    s = p.do(f"fork(0, {other['id']})")
    check("a fork has the token that was asked for", s["ids"][-1], other["id"])
    s = p.steps(3)[-1]
    ids = s["ids"]
    t = json.loads(subprocess.run([incipit, "trace", "--prompt-ids", ",".join(map(str, ids[:10])), "-n", "3", "--cache", "--json"], capture_output=True, text=True, check=True).stdout)
    check("and goes on as the command does", ids[10:], [x["chosen"]["id"] for x in t["steps"]])
    check("the command says so", p.do("command('generate')"), "incipit generate --prompt-ids " + ",".join(map(str, ids[:10])) + " -n 3")
    check("the other way is still there", p.do(f"go({one['node']})")["ids"], one["ids"])
    # the switch in the middle of a text: without the cache each step empties it first; the rows of the last one are there when it is on again
    p.do("set({prompt: %s})" % json.dumps(PROMPTS[0]))
    p.steps(3)
    p.do("set({cache: false})")
    off = p.steps(2)
    p.do("set({cache: true})")
    on = p.steps(2)
    check("rows that are computed when the switch is turned", [s["step"]["counters"]["rows"] for s in off + on], [10, 11, 1, 1])
    check("the text does not notice", on[-1]["ids"], [*traced(PROMPTS[0], 1)["prompt_ids"], *[s["chosen"]["id"] for s in traced(PROMPTS[0], 7, "--cache")["steps"]]])
    # what is refused changes nothing, and is said
    was = same(p.do("state()"))
    check("a prompt that is too long is refused", p.js("incipit.set({prompt: 'and '.repeat(600)}).then(() => '', e => e.message)") != "")
    p.js("document.getElementById('prompt').value = 'and '.repeat(600), document.getElementById('begin').click()")
    p.until("!document.getElementById('wrong').hidden && document.getElementById('wrong').textContent.length > 10")
    check("and the text is as it was", same(p.do("state()")), was)
    # an address leads to the same place, with the same work
    p.do("set({camera: 'above', layer: 3, head: 2, speed: 2})")
    p.js("document.getElementById('view').focus()")
    p.key("ArrowLeft", 37), p.key("ArrowDown", 40), p.key("ArrowDown", 40)
    p.until("location.hash.includes('at=')")
    address, want = p.do("address()"), p.do("state()")
    p.clean("back and fork")
    p.close()
    q = Page(address).ready()
    got = q.do("state()")
    for k in ("ids", "cache", "compute", "compute_step", "logits_hash", "hash_all", "kv_cache_bytes", "step", "settings", "view"):
        check(f"an address leads to the same {k}", got[k], want[k])
    check("and to the same address", q.do("address()"), address)
    q.close()


def keys_reach_all():
    p = Page().ready()
    seen, last = [], None
    for _ in range(60):
        p.key("Tab", 9)
        e = p.js("(e => e.id || e.dataset.camera || e.textContent.trim())(document.activeElement)")
        if e in seen:
            break
        seen.append(e)
    wanted = ["tab-scene", "prompt", "begin", "view", "follow", "above", "back", "step", "play", "speed", "cache-on", "layer", "head", "measure"]
    check("keys reach all that can be pressed", [w for w in wanted if w not in seen and not (w == "back" and p.js("document.getElementById('back').disabled"))], [])
    p.js("document.getElementById('view').focus()")
    for key in "nnn":
        p.key(key, ord("N"))
    p.until("incipit.state().step?.step === 3")
    p.key("b", ord("B"))
    p.until("incipit.state().step.step === 2")
    p.key("c", ord("C"))
    p.until("incipit.state().cache === false")
    p.key("3", ord("3"))
    p.until("incipit.state().view.camera === 'above'")
    for key, code, title in [("Home", 36, "“The”"), ("ArrowRight", 39, "“␣cat”"), ("ArrowDown", 40, "Layer 1 of “␣cat”"), ("ArrowDown", 40, "Layer 2 of “␣cat”"), ("End", 35, "Layer 2 of “␣cat”")]:
        p.key(key, code)
        p.until(f"document.querySelector('#about h2').textContent === '{title}'")
    check("arrow keys walk through the blocks")
    # a block tells its numbers, its section, and its command
    p.do("set({cache: true})"), p.steps(1)
    p.key("Home", 36)
    p.until("document.querySelectorAll('#about .cells i').length === 128")
    check("a block names sections of the book", p.js("document.getElementById('about').textContent.match(/Section \\d+\\.\\d+: /g).length >= 3"))
    check("a block has a command", p.js("document.querySelector('#about code').textContent").startswith("incipit trace -p 'The cat sat on the mat.' -n 3 --cache --attention 1."))
    p.key(" ", 32)
    p.until("incipit.state().step.step > 4", 60)
    p.key(" ", 32)
    p.until("document.getElementById('play').textContent === 'Play'")
    # a click meets the block that is there
    p.do("set({camera: 'side'})")
    time.sleep(2)
    p.settled()
    x, y = p.js("(r => { const w = incipit.where(2, 4); return [r.x + w[0], r.y + w[1]]; })(document.getElementById('view').getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        p.b.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    p.until("document.querySelector('#about h2').textContent === 'Layer 4 of “␣sat”'")
    check("a click on a block tells about it")
    p.clean("keys")
    p.close()


def a_frame_costs_little():
    words = "the cat sat on the mat and the dog sat on the road "
    p = Page(before="window.drawn = 0; for (const f of ['drawArrays', 'drawArraysInstanced', 'drawElements', 'drawElementsInstanced', 'drawRangeElements']) { const real = WebGL2RenderingContext.prototype[f];"
             " WebGL2RenderingContext.prototype[f] = function (...a) { window.drawn++; return real.apply(this, a); }; }").ready()
    p.do("set({prompt: %s, camera: 'all'})" % json.dumps("The cat sat" + " and" * 253))
    s = p.steps(2)[-1]
    check("256 tokens stand there", len(s["ids"]) >= 256)
    time.sleep(2)
    p.settled()
    p.do("frames(300, true)")             # compiled by now
    runs = [p.do("frames(20)")] + [p.do("frames(50, true)") for _ in range(8)]
    p.do("set({camera: 'follow'})")       # labels move, too
    time.sleep(2)
    p.settled()
    runs += [p.do("frames(20)")] + [p.do("frames(50, true)") for _ in range(8)]
    check("seven blocks a token", runs[0]["blocks"] >= 7 * 256)
    ten = []                              # the page itself may draw a frame meanwhile, so the fewest count
    for _ in range(4):
        was = p.js("drawn")
        p.do("frames(10)")
        ten.append((p.js("drawn") - was) / 10)
    check("draw calls are counted as they are", min(ten), runs[9]["draws"])
    at_most("draw calls of a frame", runs[0]["draws"], 12)
    at_most("milliseconds of script of a frame, all tokens in view, the best run", min(r["ms"] for r in runs[:9]), 3)
    at_most("milliseconds of script of a frame, labels moving, the best run", min(r["ms"] for r in runs[9:]), 3)
    p.close()
    p = Page().ready()                    # nothing is counted here: the counter would be allocating
    p.do("set({prompt: %s})" % json.dumps("The cat sat" + " and" * 253))
    p.steps(2)
    time.sleep(2)
    p.settled()
    for _ in range(2):
        p.do("frames(600, true)")
    p.b.call("HeapProfiler.enable")

    def used(frames):
        p.b.call("HeapProfiler.collectGarbage")
        p.js("void 0")
        before = p.b.call("Runtime.getHeapUsage")["usedSize"]
        p.js(f"void incipit.frames({frames}, true)")
        return p.b.call("Runtime.getHeapUsage")["usedSize"] - before
    # asking allocates something itself; the best of several, for the engine of JavaScript may compile in between, and what leaks leaks in all
    few, lots, tried = min(used(1) for _ in range(5)), float("inf"), 0
    while tried < 9 and (lots - few) / 999 > 4:
        lots, tried = min(lots, used(1000)), tried + 1
    at_most("bytes of the heap a frame", (lots - few) / 999, 4)
    p.key("f", ord("F"))
    check("the frame counter can be switched on", p.until("document.getElementById('frames').textContent.includes('draw calls')"))
    p.clean("frames")
    p.close()


def what_is_missing_is_said():
    for what, before in [("WebAssembly with SIMD", "WebAssembly.validate = () => false"), ("DecompressionStream", "delete window.DecompressionStream")]:
        p = Page(before=before)
        p.until("!document.getElementById('instead').hidden")
        check(f"without {what}: a sentence", what in p.js("document.getElementById('why-not').textContent"))
        check(f"without {what}: the recorded figure", p.js("document.querySelectorAll('#instead svg rect').length"), 7 * 11)
        check(f"without {what}: and ready says no", p.js("incipit.ready.then(() => 'yes', e => 'no')"), "no")
        p.clean("without " + what)
        p.close()
    p = Page(before="HTMLCanvasElement.prototype.getContext = () => null").ready()
    check("without WebGL2: a sentence", "no WebGL2" in p.js("document.getElementById('why-not').textContent"))
    s = p.steps(3)[-1]
    check("without WebGL2 all else works", s["step"]["step"], 3)
    p.clean("without WebGL2")
    p.close()


def it_moves_where_it_may():
    p = Page(media=()).ready()
    p.js("(async () => { await incipit.step(); window.moved = !incipit.resting(); })()")
    check("with motion a step takes its time", p.until("'moved' in window && window.moved"))
    p.settled()
    p.do("set({cache: false, speed: 4, prompt: %s})" % json.dumps("The cat sat" + " and" * 120))
    p.steps(1)
    p.settled()
    p.js("window.seen = false, incipit.step(), setTimeout(() => { window.seen = !incipit.resting(); }, 20)")
    check("without the cache the blocks flash while it computes", p.until("window.seen"))
    p.settled()
    p.until("incipit.state().step.step === 2")
    s = p.do("state()")
    check("and the page says the time that it took", p.js("document.getElementById('time').textContent"), p.js("(ms => ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en'))(%r)" % s["step_ms"]))
    check("and whether that is too slow", p.js("document.getElementById('time').className === 'late'"), s["step_ms"] > 250)
    p.clean("motion")
    p.close()


def it_can_be_heard_and_stands_still():
    p = Page().ready()
    for _ in range(3):
        s = p.steps(1)[0]
        check("reduced motion: a step stands at once", p.do("resting()"))
        said = p.js("document.getElementById('said').textContent")
        check("each step is said", all(x in said for x in (f"Step {s['step']['step']}:", s["step"]["chosen"]["piece"].replace(" ", "␣"), f"rank {s['step']['chosen']['rank']}")))
        p.until(f"document.getElementById('hear').textContent === {json.dumps(said)}", 20)
        check("and heard")
    where = p.js("(async () => { incipit.set({camera: 'above'}); const look = () => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => f(incipit.where(0, 0)))))); const a = await look();"
                 " await new Promise(f => setTimeout(f, 700)); return [a, await look()]; })()")
    check("the camera is there at once", where[0], where[1])
    check("all steps stand in a list", p.js("document.querySelectorAll('#log li').length"), 3)
    check("the live region is polite", p.js("document.getElementById('hear').getAttribute('aria-live')"), "polite")
    check("nothing that can be pressed has no name", p.js("[...document.querySelectorAll('button, input, select, canvas, [role]')].filter(e => e.checkVisibility() && !e.textContent.trim() && !e.getAttribute('aria-label') && !e.closest('label') && !e.labels?.length && !['status', 'alert'].includes(e.getAttribute('role'))).map(e => e.id || e.outerHTML)"), [])
    p.clean("still")
    p.close()


def the_tree():
    p = Page().ready()
    p.js("document.getElementById('tab-tree').click()")
    p.until("incipit.state().view.tab === 'tree' && incipit.state().prompt_tokens === 9")
    p.until("incipit.state().step?.step === 1")
    p.steps(4)
    p.until("document.querySelectorAll('#tree-svg-view .node').length > 8")
    words = p.js("[...document.querySelectorAll('#tree-svg-view .node')].map(e => e.getAttribute('aria-label'))")
    check("the fork of chapter 7 is there", [any(w.startswith("␣" + x) for w in words) for x in ("Additionally", "However")], [True, True])
    # another way is opened by a click, and by a key
    one = p.do("state()")
    p.js("[...document.querySelectorAll('#tree-svg-view .node')].find(e => /However.*not opened/.test(e.getAttribute('aria-label'))).dispatchEvent(new MouseEvent('click'))")
    p.until(f"incipit.state().ids.length === 10 && incipit.state().node !== {one['node']}")
    p.steps(8)
    s = p.do("state()")
    check("the text goes on there", s["pieces"][9], " However")
    p.do(f"go({one['node']})")
    p.steps(8)
    # a page of the cache has sixteen rows: the prompt of 9 tokens and more fill the first, and a way that parts behind it has it, too
    p.steps(8)
    late = p.do("state()")
    behind = p.js("(t => { let k = t.find(n => n.node === %d); for (let i = 0; i < 3; i++) k = t.find(n => n.node === k.parent); return k.node; })(incipit.tree())" % late["node"])
    p.do(f"fork({behind}, 261)")
    p.steps(2)
    s = p.do("state()")
    check("ways that begin alike share pages of the cache", s["pages_shared"] >= 1 and s["pages_shared"] < s["pages"])
    p.until(f"document.getElementById('stages').textContent.includes('{s['pages_shared']} of them shared')")
    check("their count is shown")
    p.do(f"go({one['node']})")
    p.until("document.querySelectorAll('#stages tbody tr').length > 8")
    was = p.do("state()")
    p.until("document.getElementById('stages-head').textContent === 'How “%s” was chosen'" % was["pieces"][-1].replace(" ", "␣"))
    p.js("document.querySelector('#stages tbody tr:nth-child(2) button').click()")
    p.until(f"incipit.state().node !== {was['node']}")
    check("a row of the table opens that way, in the same place", p.do("state()")["ids"][:-1], was["ids"][:-1])
    p.do(f"go({one['node']})")
    check("each stage of the sampler has a slider", p.js("[...document.querySelectorAll('#stages thead input')].map(e => e.dataset.setting)"), ["repetition_penalty", "temperature", "top_k", "top_p", "min_p", "seed"])
    p.js("(e => { e.value = 3; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); })(document.querySelector('[data-setting=top_k]'))")
    p.until("incipit.state().settings.top_k === 3")
    p.do("set({temperature: 1})")
    p.until("[...document.querySelectorAll('#stages tbody tr')].filter(r => r.children[5].className === 'none' || r.children[5].textContent === '–').length > 5")
    # the table is that of the sliders, though it was asked for before one moved
    p.js("(async () => { incipit.go(incipit.state().node); await incipit.set({temperature: 1, top_k: 0, top_p: .3}); })()")
    p.until("[...document.querySelectorAll('#stages thead input')].map(e => e.value).slice(1, 4).join() === '1,0,0.3'")
    at = p.js("(t => t.find(n => n.node === incipit.state().node).parent)(incipit.tree())")
    p.until("incipit.stages(%d).then(s => { const w = s.stages.find(g => g.name === 'top_p').list.length, t = [...document.querySelectorAll('#stages tbody tr')].filter(r => r.children[5].textContent !== '–' && r.children[0].textContent !== 'all others').length; return w === t; })" % at, 20)
    check("the table is that of the sliders")
    p.do("set({temperature: 0, top_k: 0, top_p: 1})")
    # the picture is a picture, the command does the same
    svg = p.js("incipit.svg()")
    root = xml.fromstring(svg)
    check("the tree is saved as SVG", root.tag, "{http://www.w3.org/2000/svg}svg")
    check("without colours that only the page knows", "var(--" in svg, False)
    s, how = p.do("state()"), p.do("command('generate')")
    check("the command of the tree", how.startswith("incipit generate "))
    out = subprocess.run([incipit, *shlex.split(how)[1:], "--json"], capture_output=True, text=True, check=True)
    made = json.loads(out.stdout)["sequences"][0]
    text = "".join(s["pieces"])
    check("writes the same text", text.endswith(made["text"]) and len(made["text"]) > 3)
    # beams
    p.do("set({prompt: %s})" % json.dumps(FORK))
    p.do("beams(3, 5)")
    p.until("document.querySelectorAll('#tree-svg-view .node').length > 10")
    b = p.do("state()")
    how = p.do("command('generate')")
    out = json.loads(subprocess.run([incipit, *shlex.split(how)[1:], "--num-sequences", "3", "--json"], capture_output=True, text=True, check=True).stdout)
    check("beams find what the command finds", ["".join(x["pieces"][9:]) for x in b["beams"]], [x["text"] for x in out["sequences"]])
    p.clean("tree")
    p.close()


def the_ledger_can_be_tried():
    """what decides the rows of the ledger about a moving picture: the page measures what their program prints"""
    program = os.path.join(os.path.dirname(incipit), "bin/laboratory/demonstration")
    want = dict(l.split() for l in subprocess.run([program, "values"], capture_output=True, text=True, check=True).stdout.splitlines())
    p, got, name = Page().ready(), {}, ["story", "code", "kingdom"]

    def put(key, value):
        got["demonstration." + key] = value if isinstance(value, str) else str(value)
    for n, a in zip(name, p.do("measure()")):
        put(n + ".far", "%.4f" % (sum(a["far"]) / 24)), put(n + ".even", "%.4f" % a["even"])
        put(n + ".spikes", a["looks"]), put(n + ".named", a["first"])
        if " kingdom" in a["pieces"][:8]:
            i = a["pieces"].index(" kingdom")
            put("anchor", "%.4f" % a["held"][i]), put("anchor.most", "%.4f" % a["most"][i])
    brief = ".then(s => ({ blocks: s.blocks, compute_step: s.compute_step, ms: s.step_ms }))"
    for n, prompt in zip(name, PROMPTS):
        for way in ("naive", "kept") if n != "code" else ():
            p.js("void incipit.set({cache: %s, prompt: %s})" % (str(way == "kept").lower(), json.dumps(prompt)))
            s = p.js("(async () => { const all = []; for (let i = 0; i < 20; i++) all.push(await incipit.step()%s); return all; })()" % brief)
            put(f"{n}.{way}.blocks", s[-1]["blocks"]), put(f"{n}.{way}.early", s[1]["compute_step"]), put(f"{n}.{way}.late", s[-1]["compute_step"])
        if n == "code":
            p.do("set({prompt: %s})" % json.dumps(prompt))
        put(n + ".prompt", p.do("state()")["prompt_tokens"])
        if n != "story":
            continue
        at_most("milliseconds of a step with the cache, at four tokens a second", min(x["ms"] for x in s[-5:]), 250)
        s = p.do("state()")
        heads = [h for layer in s["attention"] for h in layer]
        put("line", "%.4f" % (sum(map(sum, heads)) / len(heads))), put("heads", len(heads)), put("favourites", len({h.index(max(h)) for h in heads}))
        put("read", s["seq_len"] - 1), put("bytes", s["kv_cache_bytes"])
        put("cells", p.js("(async () => { let n = 0; for (let l = 0; l < 6; l++) for (let i = 0; i < 40; i++) n += await incipit.numbers(l, i) !== null; return n; })()"))
        p.do("set({cache: false})")
        steps = 0
        while s["blocks"] <= 2400:
            steps, s = steps + 1, p.steps(1)[0]
        put("switch.steps", steps), put("switch.blocks", s["blocks"])
    for k, v in want.items():
        if not k.startswith("demonstration.rate"):     # what a clock says is another machine's
            check(k, got.pop(k, None), v)
    check("all that the page measures is printed", got, {})
    p.clean("the ledger")
    p.close()


def photographs():
    os.makedirs(pictures, exist_ok=True)
    p = Page(media=(), wide=1280, high=860).ready()

    def photograph(name, wide=1080, high=740, scheme="light"):
        p.b.look(wide, high, scheme)
        time.sleep(2.5)
        p.b.picture(os.path.join(pictures, name + ".png"))
    p.do("set({prompt: 'The cat sat'})")  # the example of the book
    p.steps(9)
    photograph("cache")
    p.do("set({camera: 'above', layer: 2, head: 1})")
    photograph("above")
    p.do("set({camera: 'follow', cache: false, layer: -1, head: -1})")
    p.steps(2)
    photograph("no-cache")
    p.do("set({cache: true, camera: 'all'})")
    p.steps(40)
    photograph("all")
    p.do("set({camera: 'follow', prompt: %s})" % json.dumps(PROMPTS[1]))
    p.steps(16)
    p.js("document.getElementById('view').focus()")
    p.key("ArrowLeft", 37), p.key("ArrowDown", 40), p.key("ArrowDown", 40), p.js("document.activeElement.blur()")
    photograph("dark", 1000, 820, "dark")
    p.b.look(1280, 860, "light")
    p.do("set({prompt: %s})" % json.dumps("The cat sat"))
    p.steps(5)
    photograph("phone", 390, 844)
    p.b.look(1280, 1100, "light")
    p.js("document.getElementById('tab-tree').click(), document.activeElement.blur()")
    p.do("set({prompt: %s, temperature: 0})" % json.dumps(FORK))
    p.steps(5)
    p.js("(async () => { const s = await incipit.stages(0), c = s.stages[0].list.find(c => c.piece === ' However'), f = (await incipit.fork(0, c.id)).node;"
         " for (let i = 0; i < 5; i++) await incipit.step(); await incipit.go(f); await incipit.set({temperature: 1, top_p: .8}); })()")
    photograph("tree", 1160, 980)
    p.do("set({prompt: %s, temperature: 0})" % json.dumps(FORK))
    p.do("beams(3, 6)")
    photograph("beams", 1160, 760)
    p.close()
    p = Page(before="WebAssembly.validate = () => false")
    photograph("recorded", 1000, 560)
    p.close()


if pictures:
    photographs()
else:
    at_most("bytes of the page", os.path.getsize(page), 4500000)
    for part in sys.argv[5:] or (["numbers_are_the_commands", "back_and_fork", "the_tree", "the_ledger_can_be_tried"] if firefox else None) or ["numbers_are_the_commands", "back_and_fork", "keys_reach_all", "a_frame_costs_little", "what_is_missing_is_said", "it_moves_where_it_may", "it_can_be_heard_and_stands_still", "the_tree", "the_ledger_can_be_tried"]:
        globals()[part]()
    print("the living figures are as they should be")
