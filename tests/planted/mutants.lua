-- mutants.lua FILE... -- plants one fault at a time in the tangled C or in program/; each must fail its suite.
-- An entry of tests/planted/mutants/*.txt:
--   == FILE SUITE [CASE]
--   -old lines, whose tokens occur exactly once in FILE
--   +new lines
-- With PLACES set nothing is compiled: only whether every entry (of tests/planted/live/*.txt and tests/planted/fuzz/planted.txt, too) still has its place; TANGLED: the folder
-- where the files are looked for instead of tangled/.
-- The tests of CASE come first; only a fault that they do not find is given to the whole suite.
-- FILE is compiled alone and linked before the libraries, which then keeps its own; a suite is compiled once.
local C = dofile("tools/ctokens.lua")
local build = os.getenv("BUILD") or "build"
local cc = os.getenv("CC") or "cc"
local libs = os.getenv("LIBS") or "-ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm -lmicrohttpd -lcurl"
local tangled = os.getenv("TANGLED") or "tangled"
local places = os.getenv("PLACES")
local flags = "-std=c11 -O2 -ffp-contract=off -w -Iprogram -Iunwoven -Ibuild/tangled -I" .. tangled .. (libs:find("microhttpd") and " -DINCIPIT_HTTP" or "") .. (libs:find("lcurl") and " -DINCIPIT_CURL" or "")
local function run(c, ...) local ok = os.execute(string.format(c, ...)); return ok == true or ok == 0 end
local dir = build .. "/mutants"
local check
if not places then
  check = { cflags = io.popen("pkg-config --cflags check"):read("l"), libs = io.popen("pkg-config --libs check"):read("l") }
  assert(run("rm -rf %s && mkdir -p %s", dir, dir))
  assert(run("[ %s/limit -nt tests/checks/limit.c ] || %s -std=c11 -O2 tests/checks/limit.c -o %s/limit", build, cc, build))
end

local suites, texts = {}, {}
local function suite(name)                -- its object
  if suites[name] == nil then
    suites[name] = run("%s %s -Itests/suites %s -c tests/suites/%s.c -o %s/%s.o", cc, flags, check.cflags, name, dir, name)
  end
  return suites[name]
end

-- the .c files of a module that include a file, themselves or by others that do, in tangled/ and in unwoven/; none would be a mutant that is
-- never linked
local function including(folder, module, name)
  local found, seen, todo = {}, { [name] = true }, { name }
  local of_module = folder:find("^unwoven/") or folder == tangled .. "/" .. module
  local roots = of_module and ("%s/%s unwoven/%s"):format(tangled, module, module) or folder
  while #todo > 0 do
    local one = table.remove(todo)
    local where = roots:gsub("%S+", "%0/*.c %0/*.cu %0/*.inc %0/*.h")
    for f in io.popen("grep -lF '\"" .. module .. "/" .. one .. "\"' " .. where .. " 2>/dev/null"):lines() do
      local short = f:match("[^/]*$")
      if not seen[short] then
        seen[short] = true
        if short:match("%.c$") then found[#found + 1] = f else todo[#todo + 1] = short end
      end
    end
  end
  return found
end
local n, survived, broken = 0, 0, 0
local function mutant(e, where)
  n = n + 1
  local file = e.file:gsub("^tangled/", tangled .. "/")
  texts[file] = texts[file] or C.slurp(file)
  local text, why = C.replaced(texts[file], e.old, e.new)
  if not text then
    print(string.format("%-3d %s: the old text %s in %s", n, where, why, file)); broken = broken + 1; return end
  if places then return end
  local home = dir .. "/" .. n
  local folder, name = file:match("^(.*)/([^/]*)$")
  local module = folder:match("[^/]*$")
  assert(run("mkdir -p %s/%s", home, module))
  local h = assert(io.open(home .. "/" .. module .. "/" .. name, "wb")); h:write(text); h:close()
  local sources = {}                       -- itself, or those of its module that include it
  if name:match("%.c$") then sources[1] = home .. "/" .. module .. "/" .. name
  else sources = including(folder, module, name) end
  local ok = #sources > 0 and suite(e.word)
  -- the device of check_warps is the host's with other words of a kernel
  local words = e.word == "check_warps" and " -Itests/suites '-DKERNEL_WORDS=\"fibers.h\"'" or ""
  for _, c in ipairs(sources) do ok = ok and run("%s -I%s %s -iquote %s -c %s -o %s/%s.o", cc, home, flags .. words, folder, c, home, c:match("([^/]*)%.c$")) end
  ok = ok and run("%s %s/%s.o %s/*.o %s/tests/oracle.o %s/libprogram.a %s/libmodules.a %s %s -o %s/suite",
    cc, dir, e.word, home, build, build, build, check.libs, libs, home)
  if not ok then print(string.format("%-3d %s: does not compile", n, where)); broken = broken + 1; return end
  -- the first test that fails is enough; the limit also ends what the tests have started, which may have left their process group and session
  local function passes(case)
    return run("%s INCIPIT_TAP=%s/out.tap CK_DEFAULT_TIMEOUT=60 CK_VERBOSITY=silent %s/limit 300 %s/suite >%s/out.txt 2>&1 & suite=$!\n"
      .. "while kill -0 $suite 2>/dev/null; do grep -qs '^not ok' %s/out.tap && kill $suite 2>/dev/null; sleep 0.1; done; wait $suite",
      case == "" and "" or "CK_RUN_CASE=" .. case, home, build, home, home, home)
  end
  local passed = (e.more == "" or passes(e.more)) and passes("")
  local killer = "crash or time"
  local t = io.open(home .. "/out.tap")
  if t then
    for l in t:lines() do
      local k = l:match("^not ok %d+ %- [^:]*:[^:]*:([%w_]+)")
      if k then killer = k; break end
    end
    t:close()
  end
  if passed then survived = survived + 1 end
  print(string.format("%-3d %-40s %-46s %s", n, e.file:gsub("^%l+/", ""), e.new:match("^%s*([^\n]*)"):sub(1, 46),
    passed and "SURVIVED" or "killed by " .. killer))
  if not os.getenv("KEEP") then run("rm -rf %s", home) end
end
for _, f in ipairs(arg) do
  for _, e in ipairs(C.changes(f)) do mutant(e, f .. ":" .. e.line) end
end
if places then print(string.format("%d places, %d not found", n, broken))
else print(string.format("%d mutants, %d survived, %d could not be planted", n, survived, broken)) end
os.exit(survived + broken == 0 and n > 0)
