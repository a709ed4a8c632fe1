"""living_page_mutants.py INCIPIT CHROMIUM [FILE] -- plants the faults of tests/planted/living_page.txt in copies of the page, one after the other;
the part of living_page.py that is named must fail, and not for want of a browser."""
import os, shutil, subprocess, sys, tempfile

incipit, chromium = os.path.abspath(sys.argv[1]), sys.argv[2]
here, alive, n = os.getcwd(), [], 0
for line in open(sys.argv[3] if len(sys.argv) > 3 else "tests/planted/living_page.txt", encoding="utf-8"):
    if line.startswith("#") or not line.strip():
        continue
    file, part, old, new = line.rstrip("\n").split("\t")
    n += 1
    with tempfile.TemporaryDirectory() as room:
        shutil.copytree("living", room + "/living")
        os.symlink(here + "/build", room + "/build")
        text = open(f"living/{file}", encoding="utf-8").read()
        if text.count(old) != 1:
            sys.exit(f"{file}: {old!r} stands there {text.count(old)} times; wanted: once")
        open(f"{room}/living/{file}", "w", encoding="utf-8").write(text.replace(old, new))
        subprocess.run(["texlua", here + "/tools/living.lua", incipit, "build/living.wasm", room + "/page.html"], cwd=room, check=True, stdout=subprocess.DEVNULL)
        r = subprocess.run([sys.executable, "tests/checks/living_page.py", incipit, chromium, room + "/page.html", "", part], capture_output=True, text=True)
        said = (r.stdout + r.stderr).strip().splitlines()[-1]
    killed = r.returncode != 0 and "Traceback" not in r.stderr
    print("found" if killed else "NOT FOUND", file, old[:60], "|", said[:160], flush=True)
    if not killed:
        alive.append(old)
print(f"{n} faults, {n - len(alive)} found")
sys.exit(bool(alive))
