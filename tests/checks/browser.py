"""browser.py -- a headless Chromium, told what to do through a pipe (its DevTools protocol), with Python's standard library alone."""
import base64, fcntl, json, os, select, struct, subprocess, time, zlib
from collections import Counter

FLAGS = ["--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-extensions", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]


class Browser:
    def __init__(self, program, profile):
        theirs, ours = zip(os.pipe(), os.pipe()[::-1])    # (they read, they write), (we write, we read)
        theirs = [fcntl.fcntl(f, fcntl.F_DUPFD, 20) for f in theirs]

        def ends():                                       # Chromium reads from 3 and writes to 4
            os.dup2(theirs[0], 3), os.dup2(theirs[1], 4)
        flags = FLAGS + ["--user-data-dir=" + profile] + (["--no-sandbox"] if os.getuid() == 0 else [])
        self.process = subprocess.Popen([program, *flags, "about:blank"], pass_fds=(3, 4), preexec_fn=ends, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": profile})
        for f in theirs:
            os.close(f)
        self.to, self.back = ours
        self.rest, self.last, self.events, self.session = b"", 0, [], None
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def message(self, until):
        """the next message, or None when the time is over"""
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                return None
            more = os.read(self.back, 1 << 16)
            if not more:
                raise SystemExit("the browser has ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.last += 1
        m = {"id": self.last, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        data = json.dumps(m).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + 300 # a page that computes for a while answers afterwards
        while True:
            m = self.message(until)
            if m is None:
                raise SystemExit(method + ": the browser does not answer")
            if m.get("id") == self.last:
                if "error" in m:
                    raise SystemExit(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def js(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in r:
            raise SystemExit(f"{expression}: {r['exceptionDetails']}")
        return r["result"].get("value")

    def until(self, expression, seconds=60):
        """waits until the expression is true, and returns its value"""
        end = time.monotonic() + seconds
        while True:
            v = self.js(expression)
            if v:
                return v
            if time.monotonic() > end:
                raise SystemExit("in vain waited for: " + expression)
            time.sleep(.02)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def place(self, element):
        """the middle of what a selector finds, brought into view"""
        return self.js(f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; }})({element})")

    def hover(self, element):
        x, y = self.place(element)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, element):
        x, y = self.place(element)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def key(self, key, code=0, modifiers=0):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def fill(self, id, text):
        """what is in a field is replaced by the text, as if it were typed"""
        self.js(f"document.getElementById('{id}').focus(), document.getElementById('{id}').select()")
        if text == "":
            return self.key("Backspace", 8)
        self.call("Input.insertText", text=text)

    def look(self, wide, high, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=wide < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, file):
        with open(file, "wb") as f:
            f.write(fewer_colours(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (SystemExit, subprocess.TimeoutExpired, OSError):
            self.process.kill()
            self.process.wait()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def fewer_colours(png):
    """a PNG of eight bits a channel with 256 colours, those that it has most of first; the others become their neighbours: a third of the bytes"""
    at, data = 8, b""
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            wide, high, _, colours = struct.unpack(">IIBB", png[at + 8:at + 18])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + n]
        at += 12 + n
    size = {2: 3, 6: 4}[colours]
    data, above, rows = zlib.decompress(data), bytearray(wide * size), []
    for y in range(high):
        how, row = data[y * (wide * size + 1)], bytearray(data[y * (wide * size + 1) + 1:(y + 1) * (wide * size + 1)])
        for i in range(len(row) if how else 0):
            left, up, corner = row[i - size] if i >= size else 0, above[i], above[i - size] if i >= size else 0
            if how == 4:
                p = left + up - corner
                guess = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
            else:
                guess = (0, left, up, (left + up) // 2)[how]
            row[i] = (row[i] + guess) & 255
        above = row
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), size)])
    count = Counter(c for row in rows for c in row)
    near, kept = -1, [None] * 257
    while len(kept) > 256:              # no two kept are nearer to each other than is needed
        near, kept = near + 1, []
        for c, _ in count.most_common():
            if len(kept) <= 256 and all(max(abs(a - b) for a, b in zip(c, k)) > near for k in kept):
                kept.append(c)
    index = {c: i for i, c in enumerate(kept)}
    for c in count:
        if c not in index:
            index[c] = min(range(len(kept)), key=lambda i: sum((a - b) ** 2 for a, b in zip(kept[i], c)))
    packed = zlib.compress(b"".join(b"\0" + bytes(index[c] for c in row) for row in rows), 9)
    return png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)) + chunk(b"PLTE", b"".join(map(bytes, kept))) + \
        chunk(b"IDAT", packed) + chunk(b"IEND", b"")
