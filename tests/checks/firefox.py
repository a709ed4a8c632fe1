"""firefox.py -- a headless Firefox, told what to do through its port Marionette, with Python's standard library alone. It does what the parts of
living_page.py need that look at numbers; media, the console, and what a frame allocates are asked of Chromium. Without a window Firefox has no
WebGL2: where DISPLAY names a screen (Xvfb will do) it has a window there, and draws the scene with LIBGL_ALWAYS_SOFTWARE=1."""
import base64, json, os, socket, subprocess, time

PREFERENCES = {"marionette.port": 0, "datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False, "network.proxy.type": 1,
               "network.proxy.http": "127.0.0.1", "network.proxy.ssl": "127.0.0.1", "network.proxy.http_port": 9, "network.proxy.ssl_port": 9,
               "ui.prefersReducedMotion": 1, "webgl.force-enabled": True}


class Browser:
    def __init__(self, program, profile):
        with open(os.path.join(profile, "user.js"), "w") as f:
            f.write("".join(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFERENCES.items()))
        self.process = subprocess.Popen([program, *([] if os.environ.get("DISPLAY") else ["--headless"]), "--marionette", "--no-remote", "--profile", profile], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": profile})
        port, end = os.path.join(profile, "MarionetteActivePort"), time.monotonic() + 120
        while not (os.path.exists(port) and open(port).read().strip()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit("Firefox does not open its port")
            time.sleep(.1)
        self.link = socket.create_connection(("127.0.0.1", int(open(port).read())), 60)
        self.link.settimeout(300)
        self.rest, self.last, self.events = b"", 0, []
        self.message()
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False, "timeouts": {"script": 280000, "pageLoad": 120000}}})

    def message(self):
        """its length, a colon, and JSON"""
        while b":" not in self.rest:
            self.rest += self.link.recv(1 << 16)
        n, _, self.rest = self.rest.partition(b":")
        while len(self.rest) < int(n):
            self.rest += self.link.recv(1 << 16)
        one, self.rest = self.rest[:int(n)], self.rest[int(n):]
        return json.loads(one)

    def call(self, method, **parameters):
        if not method.startswith("WebDriver:"):
            return None                                   # a word to Chromium
        self.last += 1
        data = json.dumps([0, self.last, method, parameters]).encode()
        self.link.sendall(b"%d:%s" % (len(data), data))
        _, id, error, result = self.message()
        if id != self.last or error:
            raise SystemExit(f"{method}: {error}")
        return result

    def js(self, expression):
        script = "const done = arguments[0]; (async () => { try { done([await eval(%s)]); } catch (e) { done(String(e)); } })();" % json.dumps(expression)
        got = self.call("WebDriver:ExecuteAsyncScript", script=script, args=[], newSandbox=False, sandbox=None)["value"]
        if isinstance(got, str):
            raise SystemExit(f"{expression}: {got}")
        return got[0]

    def until(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while True:
            v = self.js(expression)
            if v:
                return v
            if time.monotonic() > end:
                raise SystemExit("in vain waited for: " + expression)
            time.sleep(.02)

    def open(self, url):
        self.call("WebDriver:Navigate", url=url)

    def key(self, key, code=0, modifiers=0):
        words = {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Home": "\ue011", "End": "\ue010", "Tab": "\ue004", "Enter": "\ue007"}
        k = words.get(key, key)
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": k}, {"type": "keyUp", "value": k}]}])

    def picture(self, file):
        with open(file, "wb") as f:
            f.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)["value"]))

    def close(self):
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
            self.link.close()
        except (SystemExit, OSError):
            pass
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
