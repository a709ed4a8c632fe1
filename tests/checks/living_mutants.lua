-- living_mutants.lua FAULTS FOLDER WHERE -- see living_mutants.sh
package.path = "tools/?.lua;" .. package.path
local C = dofile("tools/ctokens.lua")
local faults, dir, where = arg[1], arg[2], arg[3]
local function run(c, ...) local ok = os.execute(string.format(c, ...)); return ok == true or ok == 0 end
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local function make(v) local h = io.popen("make -s --eval='living-v:;@echo $(" .. v .. ")' living-v"); local s = h:read("a"); h:close(); return (s:gsub("%s+$", "")) end
local flags, link, program = make("WASM_FLAGS"), make("WASM_LINK"), make("WASM_PROGRAM")
local libs, used = make("WASM_LIBS"), make("WASM_USED")
local root = io.popen("pwd"):read("l")
flags = flags:gsub("%-ffile%-prefix%-map=%S+", "")
local entries, e = {}, nil
for l in io.lines(faults) do
  local file, finder = l:match("^== (%S+) (%S+)")
  if file then e = { file = file, finder = finder, old = {}, new = {} }; entries[#entries + 1] = e
  elseif e and l:match("^%-") then e.old[#e.old + 1] = l:sub(2)
  elseif e and l:match("^%+") then e.new[#e.new + 1] = l:sub(2) end
end
-- what is compiled again: the file itself, or whatever of wasm/ includes it
local function sources(file)
  if file:match("%.c$") then return { file } end
  local name, list = file:match("([^/]+)$"), {}
  for f in io.popen("ls wasm/simd128*.c wasm/fmaf.c"):lines() do
    if name == "simd128.inc" and f:find("simd128") or name == "exact.h" then list[#list + 1] = f end
  end
  return list
end
local missed = 0
for i, x in ipairs(entries) do
  local text, why = C.replaced(slurp(x.file), table.concat(x.old, "\n"), table.concat(x.new, "\n"))
  if not text then print(i, x.file, why); os.exit(1) end
  local here = where .. "/" .. i
  run("mkdir -p %s/%s", here, x.file:match("^(.*)/"))
  local h = assert(io.open(here .. "/" .. x.file, "wb")); h:write(text); h:close()
  local objects, ok = "", true
  for k, f in ipairs(sources(x.file)) do
    local from = f == x.file and here .. "/" .. f or f
    local o = here .. "/" .. k .. ".o"
    ok = ok and run("clang-19 -I%s/tangled -I%s/wasm -Iwasm %s -w -c %s -o %s 2>> %s/log", here, here, flags, from, o, here)
    objects = objects .. " " .. o
  end
  local found
  if not ok then print(i .. ": does not compile: " .. x.file); os.exit(1) end
  if x.finder == "fmaf" then
    ok = run("clang-19 -I%s/tangled %s -w -c wasm/try_fmaf.c -o %s/t.o && %s %s/t.o %s %s -o %s/p.wasm 2>> %s/log", here, flags, here, program, here, objects, libs, here, here)
    found = ok and not run("timeout 120 node wasm/run.mjs %s/p.wasm > %s/out 2>&1", here, here)
  elseif x.finder == "split" then
    local cc = "cc -std=c11 -O2 -w -I" .. here .. "/wasm -Iwasm -Itangled -Iunwoven"
    run("sed 's|#include \"split.c\"|#include \"%s/%s/wasm/split.c\"|' wasm/try_split.c > %s/try_split.c", root, here, here)
    ok = run("%s %s/try_split.c build/wasm/made/kinds.c build/libmodules.a -o %s/p -ljansson -lpcre2-8 -lutf8proc -pthread -lm 2>> %s/log", cc, here, here, here)
    found = ok and not run("timeout 120 %s/p > %s/out 2>&1", here, here)
  else
    ok = run("%s %s %s build/wasm/obj/wasm/fmaf.o %s %s -o %s/p.wasm 2>> %s/log", link, x.file == "wasm/exports.c" and "" or "build/wasm/obj/wasm/exports.o", objects, used, libs, here, here)
    found = ok and not run("timeout 300 node tests/checks/living.mjs %s/p.wasm tests/checks/living.txt %s/lines.jsonl %s/traces.jsonl > %s/out 2>&1", here, dir, dir, here)
  end
  if not ok then print(i .. ": cannot be linked: " .. x.file); os.exit(1) end
  print(string.format("%d %s (%s): %s", i, x.file, x.finder, found and "found" or "SURVIVED"))
  if not found then missed = missed + 1 end
  run("rm -f %s/p.wasm %s/*.o %s/p", here, here, here)
end
print(string.format("%d faults, %d survived", #entries, missed))
os.exit(missed == 0 and #entries > 0 and 0 or 1)
