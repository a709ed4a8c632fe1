-- planted.lua CHANGE -- the tangled C and program/ with a reader's change in $BUILD/exercise (or in $PLANTED), and in objects/ there what it changes, compiled.
-- CHANGE has entries as tests/planted/mutants has:  == FILE, then lines with - (as they are now; these tokens occur once) and + (as they shall be).
local C = dofile("tools/ctokens.lua")
local build = os.getenv("BUILD") or "build"
local home = os.getenv("PLANTED") or build .. "/exercise"
local function run(c) local ok = os.execute(c); return ok == true or ok == 0 end
run("rm -rf " .. home .. " && mkdir -p " .. home .. " && cp -r tangled unwoven program " .. home .. "/")
local edits = C.changes(arg[1])
if #edits == 0 then print("no change: write == FILE, then - lines and + lines"); os.exit(1) end
for _, x in ipairs(edits) do
  local s, why = C.replaced(C.slurp(home .. "/" .. x.file), x.old, x.new)
  if not s then print(x.file .. ": the old lines must occur there exactly once (what is there now: " .. why .. ")"); os.exit(1) end
  local h = assert(io.open(home .. "/" .. x.file, "wb")); h:write(s); h:close()
end
local cc = os.getenv("CC") or "cc"
local files, heads = {}, {}       -- a changed source changes itself, a changed header all of the library that include it
for _, x in ipairs(edits) do if x.file:match("%.c$") then files[x.file] = true else heads[#heads + 1] = x.file end end
if #heads > 0 then
  local p = io.popen(string.format("cd %s && for c in tangled/*/*.c unwoven/*/*.c program/*.c; do case $c in tangled/checkpoints/*) continue ;; esac; echo $c; %s -std=c11 -Itangled -Iunwoven -Iprogram -MM $c | tr -d '\\n'; echo; done", home, cc))
  for c in p:lines() do
    local needs = p:read()
    for _, h in ipairs(heads) do if needs:find(h, 1, true) then files[c] = true end end
  end
  p:close()
end
local list = {}
for f in pairs(files) do list[#list + 1] = f end
table.sort(list)
-- link these objects before the libraries: nothing is replaced in an archive, since two sources may have one name there, as open.c has in
-- five modules
os.exit(run(string.format("cd %s && mkdir objects && for c in %s; do case $c in program/main.c) continue ;; esac; %s -std=c11 -O2 -ffp-contract=off -w -Itangled -Iunwoven -Iprogram -c $c -o objects/$(echo ${c%%.c} | tr / -).o || exit 1; done", home,
  table.concat(list, " "), cc)))
