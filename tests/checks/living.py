"""living.py CHROMIUM WASM SCRIPT LINES TRACES PAGE -- living_compare.mjs in a browser: one page, from a file, with all of it inside."""
import base64, json, pathlib, sys, tempfile
from browser import Browser

program, wasm, script, lines, traces, page = sys.argv[1:]
text = lambda f: pathlib.Path(f).read_text(encoding="utf-8")
code = "".join(text(f).replace("export ", "") for f in ("wasm/engine.mjs", "tests/checks/living_compare.mjs"))
data = [base64.b64encode(pathlib.Path(f).read_bytes()).decode() for f in (wasm, script, lines, traces)]
pathlib.Path(page).write_text(f"""<!doctype html><meta charset="utf-8"><title>wait</title><script type="module">
{code}
const bytes = s => Uint8Array.from(atob(s), c => c.charCodeAt(0)), [wasm, ...texts] = {json.dumps(data)};
try {{
  window.said = compare(await open(bytes(wasm)), ...texts.map(t => new TextDecoder().decode(bytes(t))));
  document.title = 'done';
}} catch (e) {{ window.said = String(e); document.title = 'failed'; }}
</script>""", encoding="utf-8")
with tempfile.TemporaryDirectory() as profile:
    b = Browser(program, profile)
    try:
        b.open(pathlib.Path(page).resolve().as_uri())
        b.until("['done', 'failed'].includes(document.title)", 300)
        said, good = b.js("window.said"), b.js("document.title") == "done"
        noise = [e["params"] for e in b.events if e["method"] in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")]
    finally:
        b.close()
print(said)
if not good or noise:
    sys.exit(f"{noise}" if noise else 1)
