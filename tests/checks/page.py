"""page.py INCIPIT CHROMIUM [PICTURES] -- the page of incipit serve, in a browser that nobody sees: what it shows is what generate and chat
print, its alternatives are those of generate, slots and pages are drawn, nothing comes from elsewhere, and no text becomes a part of the page.
With PICTURES, a folder: two pictures of it are put there instead."""
import json, math, os, shlex, signal, subprocess, sys, tempfile, threading, time, urllib.error, urllib.request
from browser import Browser

incipit, chromium = os.path.abspath(sys.argv[1]), sys.argv[2]
pictures = sys.argv[3] if len(sys.argv) > 3 else None
room = tempfile.mkdtemp(prefix="page.")
EVIL = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>"


def check(what, got, wanted=True):
    if got != wanted:
        if isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):       # where they differ says more
            got, wanted = next((g, w) for g, w in zip(got, wanted) if g != w)
        raise SystemExit(f"FAILED: {what}: {str(got)[:400]!r}, and not {str(wanted)[:400]!r}")
    print("ok", what)


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([incipit, "serve", "--port", "0", *options], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise SystemExit(f"serve says {line!r}")
        self.url = line.split()[-1]

    def metrics(self):
        with urllib.request.urlopen(self.url + "/metrics", timeout=20) as answer:
            lines = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in lines}

    def refusal(self, body):
        ask = urllib.request.Request(self.url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(ask, timeout=20)
        except urllib.error.HTTPError as e:
            return json.load(e)["error"]["message"]
        raise SystemExit(f"{body} is not refused")

    def close(self):
        self.process.terminate()
        return self.process.wait(60)


def generated(prompt, *options):
    """texts of generate, with the five likeliest for each token"""
    out = subprocess.run([incipit, "generate", "-p", prompt, "--json", "--logprobs", "5", *options], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["sequences"]


def ask(b, prompt, **fields):
    """types, sends, and gives the number of the request: 0 is the newest"""
    for field, value in {"max_tokens": 40, "temperature": 0, "seed": 0, "n": 1, **fields}.items():
        b.fill(field, str(value))
    b.fill("prompt", prompt)
    had = b.js("asked")
    b.key("Enter", 13, modifiers=2)
    b.until(f"asked > {had}")


def written(b, where="texts"):
    b.until("open.size === 0", 300)
    return b.js(f"[...document.querySelectorAll('#{where} .gen')].map(e => e.textContent)")


def continues(b):
    ask(b, "The cat sat")
    one = generated("The cat sat", "-n", "40", "--temperature", "0")[0]
    check("a text is generate's", written(b)[0], one["text"])
    check("each token has its place", b.js("document.querySelectorAll('.gen span').length"), len(one["ids"]))
    first = "document.querySelector('.gen span')"
    b.hover(first)
    b.until("!document.getElementById('note').hidden")
    rows = b.js("[...document.querySelectorAll('#note tr')].map(r => r.cells[1].textContent)")
    likely = [math.exp(t["logprob"]) for t in one["logprobs"][0]["top"]]
    check("its alternatives are generate's", rows[:5], ["<0.0001" if p < 1e-4 else f"{p:.4f}" for p in likely])
    check("and the others", rows[5:], [f"{1 - sum(likely):.4f}"])
    check("a token is darker where others were likely", b.js(f"{first}.style.getPropertyValue('--s')"), f"{.5 - .5 * likely[0]:.3f}")


def tells_a_shell(b):
    ask(b, "It's a cat", temperature=.7, seed=3)
    text, line = written(b)[0], b.js("document.querySelector('.request code').textContent")
    check("the command is incipit's", shlex.split(line)[0], "incipit")
    out = subprocess.run([incipit, *shlex.split(line)[1:]], capture_output=True, text=True, check=True).stdout
    check("the command on the page writes the same", out.rstrip("\n"), text.rstrip("\n"))


def many(b, server):
    b.js("document.getElementById('ignore_eos').checked = true")
    ask(b, "Once there was", n=12, max_tokens=80, temperature=.8, seed=7)
    ask(b, "The moon", n=6, max_tokens=80, temperature=.8)
    check("twelve texts and six at once are generate's", written(b)[:18],
          [s["text"] for p, n, seed in (("The moon", "6", "0"), ("Once there was", "12", "7"))
           for s in generated(p, "-n", "80", "--num-sequences", n, "--temperature", "0.8", "--seed", seed, "--ignore-eos")])
    n = f"{int(server.metrics()['incipit_generation_tokens_total']):,}"
    b.until(f"[...document.querySelectorAll('#counters tr')].some(r => r.cells[0].textContent === 'tokens written' && r.cells[1].textContent === '{n}')", 10)
    check("the counters are the server's", True)
    b.js("document.getElementById('ignore_eos').checked = false")
    b.click("document.getElementById('lines')")
    ask(b, "The dog\nThe cat sat", max_tokens=12)
    check("each line is a prompt of its own", written(b)[:2], [generated(p, "-n", "12", "--temperature", "0")[0]["text"] for p in ("The cat sat", "The dog")])
    b.click("document.getElementById('lines')")


def draws_and_stops(b, server):
    b.js("document.getElementById('ignore_eos').checked = true, past = [], 0")
    for prompt in ("Once", "The moon"):
        ask(b, prompt, n=4, max_tokens=1900, temperature=1)
    b.until("new Set([...document.querySelectorAll('#slots .held')].map(e => e.getAttribute('style'))).size === 2 && Math.max(...past.map(s => s.used)) > past[0].used + 8 && document.querySelectorAll('.gen span').length > 0")
    b.click("document.querySelector('.request button')")
    b.until("open.size < 2", 10)
    check("one is stopped by its own button", b.js("document.querySelectorAll('.request button').length < 2 && !document.querySelector('.request').contains(document.querySelector('.request button'))"))
    b.click("document.getElementById('stop')")
    end = time.monotonic() + 1
    while server.metrics()["incipit_requests_running"] and time.monotonic() < end:
        time.sleep(.05)
    check("what is stopped ends within a second", server.metrics()["incipit_requests_running"], 0)
    written(b)
    check("and what was written stays", b.js("document.querySelector('.request small').textContent.endsWith('stopped') && document.querySelector('.gen').textContent.length > 0"))
    check("slots are drawn, with the rows of their texts", b.js("document.querySelectorAll('#slots .held').length >= 4 && document.querySelectorAll('#slots .rows').length >= 4"))
    check("there are as many lines as slots, and one", b.js("document.querySelectorAll('#slots .lane').length"), 1 + server.metrics()["incipit_slots"])
    check("pages are drawn", b.js("document.querySelector('#slots .used').getBBox().height > 1"))
    b.js("document.getElementById('ignore_eos').checked = false")


def refuses(b, server):
    ask(b, "x", temperature=9)
    b.until("open.size === 0")
    check("an error is the server's sentence", b.js("document.querySelector('.request .wrong').textContent"), server.refusal({"prompt": "x", "temperature": 9}))


def is_text_alone(b):
    ask(b, EVIL, max_tokens=4)
    written(b)
    b.js("(t => { t.add(%s, [{token: %s, lp: -1, top: [[%s, -2]]}]); document.getElementById('texts').append(t.article); show(t.gen.firstChild); })(new Text(''))" % ((json.dumps(EVIL),) * 3))
    check("a prompt is text", b.js("document.querySelector('.request .prompt').textContent"), EVIL)
    check("what a model writes is text", b.js("document.getElementById('note').textContent.includes('onerror')"))
    time.sleep(.3)
    check("nothing of it was executed", b.js("window.hacked === undefined && document.querySelectorAll('img, script').length"), 1)
    check("no other way leads into the page", b.js("(() => { try { document.body.innerHTML = '<b>x</b>'; } catch (e) { return e.name; } })()"), "TypeError")
    pieces = [("", "bytes:\\xe6\\x97"), ("\u65e5", "bytes:\\xa5"), ("", " "), (" x", "x")]
    b.js("(t => { for (const [s, token] of %s) t.add(s, [{token, lp: -.1, top: []}]); document.getElementById('texts').append(t.article); })(new Text(''))" % json.dumps(pieces))
    check("bytes wait until they are a character", b.js("[...document.querySelectorAll('#texts > article:last-child .gen span')].map(e => [e.textContent, known.get(e).length])"), [["\u65e5", 2], [" ", 1], ["x", 1]])


def is_for_all(b):
    b.js("document.querySelector('.request .gen').focus()")
    for _ in range(3):
        b.key("ArrowRight", 39)
    check("arrow keys walk through the tokens", b.js("[...document.querySelector('.gen').children].findIndex(e => e.matches('.at')) === 2 && !document.getElementById('note').hidden"))
    b.key("Escape", 27)
    check("Escape closes the note", b.js("document.getElementById('note').hidden"))
    nodes = b.call("Accessibility.getFullAXTree")["nodes"]
    value = lambda n, key: n.get(key, {}).get("value", "")
    mute = [value(n, "role") for n in nodes if value(n, "role") in ("textbox", "spinbutton", "checkbox", "radio", "button") and not value(n, "name") and not n["ignored"]]
    check("every field and button has a name", mute, [])
    for scheme in ("light", "dark"):
        for wide in (1240, 390):
            b.look(wide, 900, scheme)
            check(f"{scheme}, {wide} wide: nothing sticks out", b.js("document.documentElement.scrollWidth <= innerWidth"))
        check(scheme + ": letters stand out from their ground", b.js("""(() => {
          const light = c => { const [r, g, b] = c.match(/\\d+/g).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
          const ground = light(getComputedStyle(document.body).backgroundColor);
          return [...document.querySelectorAll('.lead, .question, label, summary, #hint, figcaption, #counters th, #counters td, .prompt, small, code')].filter(e => {
            const l = light(getComputedStyle(e).color); return (Math.max(l, ground) + .05) / (Math.min(l, ground) + .05) < 4.5; }).map(e => e.className || e.localName);
        })()"""), [])
    b.look(1240, 900)


def talks(b):
    b.click("document.getElementById('talk')")
    turns = ["Hello!", "What did the cat do?"]
    for turn in turns:
        for field in ("temperature", "max_tokens"):
            b.fill(field, "")
        b.fill("prompt", turn)
        b.click("document.getElementById('write')")
        written(b, "turns")
    said = subprocess.run([incipit, "chat"], input="".join(t + "\n" for t in turns), capture_output=True, text=True, check=True).stdout
    check("a talk is chat's", "".join(t + "\n" for t in written(b, "turns")), said)
    b.click("document.getElementById('text')")


def wants_a_key(b):
    keys = os.path.join(room, "keys")
    with open(os.open(keys, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write("a-key-of-the-page-0123\n")
    server = Server("--api-key", keys)
    try:
        b.open(server.url + "/")
        b.until("document.getElementById('key').offsetHeight > 0 && document.getElementById('wrong').offsetHeight > 0")
        b.fill("key", "a-key-of-the-page-0123")
        ask(b, "The cat sat", max_tokens=4)
        check("a key is asked for, and sent", written(b)[0], generated("The cat sat", "-n", "4", "--temperature", "0")[0]["text"])
        b.until("document.getElementById('model').textContent && document.getElementById('wrong').hidden")
        return server.url
    finally:
        server.close()


class Slowly:
    """the server with many short rests: the built-in model writes faster than a page can look"""
    def __init__(self, server):
        self.process, self.on = server.process, True

    def __enter__(self):
        self.thread = threading.Thread(target=self.rest)
        self.thread.start()

    def rest(self):
        while self.on:
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(.05)
            self.process.send_signal(signal.SIGCONT)
            time.sleep(.01)

    def __exit__(self, *_):
        self.on = False
        self.thread.join()


def is_cut(b):
    server = Server("--drain-timeout", "1")
    b.open(server.url + "/")
    b.js("document.getElementById('ignore_eos').checked = true")
    ask(b, "Once", n=64, max_tokens=2000, temperature=1)
    b.until("document.querySelectorAll('.gen span').length > 0")
    check("a server that must end says that it has cut a text", server.close(), 1)
    b.until("open.size === 0")
    check("the page shows its sentence, and what was written", b.js("/^(?!The server)./.test(document.querySelector('.request .wrong').textContent) && document.querySelector('.gen').textContent.length > 0"))
    return server.url


def draw(b, server):
    """the two pictures: many texts in eight slots, and a token with what else could have stood there, in the dark"""
    b.look(1180, 800)
    with Slowly(server):
        for prompt, n in (("Once there was", 3), ("A ball", 5), ("The moon", 4), ("The cat sat", 4)):
            ask(b, prompt, n=n, max_tokens=160, temperature=.9)
            b.until("document.querySelectorAll('.request:first-child .gen span').length > 0 || past.at(-1).who.every(w => w)")
        written(b)
    time.sleep(3)                       # until the page has looked again
    b.js("scrollTo(0, document.querySelector('.page').offsetTop - 20), document.activeElement.blur()")
    b.picture(os.path.join(pictures, "page.slots.png"))
    b.look(1180, 800, "dark")
    b.open(b.js("location.href"))
    with Slowly(server):
        ask(b, "The cat sat on the", max_tokens=120, temperature=.8, seed=5)
        written(b)
    time.sleep(3)
    b.js("document.activeElement.blur()")
    b.hover("[...document.querySelectorAll('.gen span')].find(e => e.style.getPropertyValue('--s') > .35)")
    b.picture(os.path.join(pictures, "page.tokens.png"))


server = Server()
b = Browser(chromium, room)
try:
    b.look(1240, 900)
    b.open(server.url + "/")
    b.until("document.getElementById('model').textContent && document.getElementById('figure').offsetHeight")
    if pictures:
        draw(b, server)
    else:
        continues(b)
        tells_a_shell(b)
        many(b, server)
        draws_and_stops(b, server)
        refuses(b, server)
        is_text_alone(b)
        is_for_all(b)
        talks(b)
        others = wants_a_key(b), is_cut(b)
        urls = {e["params"]["request"]["url"] for e in b.events if e["method"] == "Network.requestWillBeSent"}
        check("nothing is asked of anybody else", sorted(u for u in urls if not u.startswith(tuple(u + "/" for u in (server.url, *others)))), [])
        said = [e["params"] for e in b.events if e["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled")]
        said += [e["params"]["entry"]["text"] for e in b.events if e["method"] == "Log.entryAdded" and e["params"]["entry"]["source"] != "network"]
        said = [s for s in said if "TrustedHTML" not in s]      # we have tried that
        check("the browser complains of nothing", said, [])
finally:
    b.close()
    status = server.close()
    subprocess.run(["rm", "-rf", room])
check("the server ends well", status, 0)
