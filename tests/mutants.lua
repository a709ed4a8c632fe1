-- mutants.lua FILE... -- plants one fault at a time in the tangled C; each must fail its suite.
-- An entry of tests/mutants/*.txt:
--   == FILE SUITE [TEST]
--   -old lines, which occur exactly once in FILE
--   +new lines
-- With PLACES set nothing is compiled: only whether every entry (of tests/live/*.txt too) still has its place.
-- FILE is compiled alone and replaces its object in a copy of the library; the suite is linked with that and run.
local build = os.getenv("BUILD") or "build"
local cc = os.getenv("CC") or "cc"
local libs = os.getenv("LIBS") or "-ljansson -lpcre2-8 -lutf8proc -pthread -lm"
local flags = "-std=c11 -O2 -ffp-contract=off -Itangled"
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local function run(c) local ok = os.execute(c); return ok == true or ok == 0 end
local places = os.getenv("PLACES")
local check = io.popen("pkg-config --cflags --libs check"):read("l")
local dir = build .. "/mutants"
run("rm -rf " .. dir .. "; mkdir -p " .. dir)
local n, survived, broken = 0, 0, 0
local function mutant(e, where)
  n = n + 1
  local old, new = table.concat(e.old, "\n"), table.concat(e.new, "\n")
  local text = slurp(e.file)
  local a, b = text:find(old, 1, true)
  if not a or text:find(old, b + 1, true) then
    print(string.format("%-3d %s: the old text occurs %s in %s", n, where, a and "more than once" or "never", e.file)); broken = broken + 1; return end
  if places then return end
  local home = dir .. "/" .. n
  local chapter, base = e.file:match("tangled/([^/]*)/([^/]*)%.c$")
  run("mkdir -p " .. home .. "/" .. chapter .. " && cp tests/*.h tests/*.c " .. home .. "/ 2>/dev/null")
  local src = home .. "/" .. chapter .. "/" .. base .. ".c"
  local h = assert(io.open(src, "wb")); h:write(text:sub(1, a - 1), new, text:sub(b + 1)); h:close()
  local lib, exe = home .. "/libincipit.a", home .. "/suite"
  local ok = run(string.format("cp %s/libincipit.a %s && %s %s -w -c %s -o %s/%s.o && ar rD %s %s/%s.o && %s %s -w tests/%s.c %s/tests/oracle.o %s %s %s -o %s",
    build, lib, cc, flags, src, home, base, lib, home, base, cc, flags, e.suite, build, lib, check, libs, exe))
  if not ok then print(string.format("%-3d %s: does not compile", n, where)); broken = broken + 1; return end
  local tap = home .. "/out.tap"
  local passed = run(string.format("INCIPIT_TAP=%s CK_DEFAULT_TIMEOUT=60 CK_VERBOSITY=silent timeout 300 %s >%s/out.txt 2>&1", tap, exe, home))
  local killer = "crash or time"
  local t = io.open(tap)
  if t then for l in t:lines() do local k = l:match("^not ok %d+ %- [^:]*:[^:]*:([%w_]+)"); if k then killer = k; break end end t:close() end
  if passed then survived = survived + 1 end
  print(string.format("%-3d %-40s %-46s %s", n, e.file:gsub("^tangled/", ""), (e.new[1] or ""):gsub("^%s+", ""):sub(1, 46), passed and "SURVIVED" or "killed by " .. killer))
  if not os.getenv("KEEP") then run("rm -rf " .. home) end
end
for _, f in ipairs(arg) do
  local e, line = nil, 0
  local function flush() if e then mutant(e, f .. ":" .. e.line) end; e = nil end
  for l in io.lines(f) do
    line = line + 1
    local file, suite = l:match("^== (%S+)%s*(%S*)")
    if file then flush(); e = { file = file, suite = suite, old = {}, new = {}, line = line }
    elseif e and l:match("^%-") then e.old[#e.old + 1] = l:sub(2)
    elseif e and l:match("^%+") then e.new[#e.new + 1] = l:sub(2) end
  end
  flush()
end
print(string.format(places and "%d places, %d not found" or "%d mutants, %d survived, %d could not be planted", n, places and broken or survived, broken))
os.exit(survived + broken == 0 and n > 0)
