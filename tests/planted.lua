-- planted.lua CHANGE SOURCE... -- the tangled C with a reader's change, compiled into $BUILD/exercise/libincipit.a.
-- CHANGE has entries as tests/mutants has:  == FILE, then lines with - (as they are now, once) and + (as they shall be).
local build = os.getenv("BUILD") or "build"
local home = build .. "/exercise"
local function run(c) local ok = os.execute(c); return ok == true or ok == 0 end
run("rm -rf " .. home .. " && mkdir -p " .. home .. " && cp -r tangled " .. home .. "/ && cp " .. build .. "/libincipit.a " .. home .. "/")
local edits, e = {}, nil
for l in io.lines(arg[1]) do
  local f = l:match("^== (%S+)")
  if f then e = { file = f, old = {}, new = {} }; edits[#edits + 1] = e
  elseif e and l:match("^%-") then e.old[#e.old + 1] = l:sub(2)
  elseif e and l:match("^%+") then e.new[#e.new + 1] = l:sub(2) end
end
if #edits == 0 then print("no change: write == FILE, then - lines and + lines"); os.exit(1) end
for _, x in ipairs(edits) do
  local h = assert(io.open(home .. "/" .. x.file, "rb")); local s = h:read("a"); h:close()
  local old = table.concat(x.old, "\n")
  local a, b = s:find(old, 1, true)
  if not a or old == "" or s:find(old, b + 1, true) then print(x.file .. ": the old lines must occur there exactly once"); os.exit(1) end
  h = assert(io.open(home .. "/" .. x.file, "wb")); h:write(s:sub(1, a - 1), table.concat(x.new, "\n"), s:sub(b + 1)); h:close()
end
local cc = os.getenv("CC") or "cc"
local files, heads = {}, {}       -- a changed source changes itself, a changed header all that include it
for _, x in ipairs(edits) do if x.file:match("%.c$") then files[x.file] = true else heads[#heads + 1] = x.file end end
if #heads > 0 then
  local p = io.popen(string.format("cd %s && for c in tangled/*/[a-z]*.c; do echo $c; %s -std=c11 -Itangled -MM $c | tr -d '\\n'; echo; done", home, cc))
  for c in p:lines() do
    local needs = p:read()
    for _, h in ipairs(heads) do if needs:find(h, 1, true) then files[c] = true end end
  end
  p:close()
end
local list = {}
for f in pairs(files) do list[#list + 1] = f end
table.sort(list)
os.exit(run(string.format("cd %s && for c in %s; do o=$(basename $c .c).o; %s -std=c11 -O2 -ffp-contract=off -w -Itangled -c $c -o $o && ar rD libincipit.a $o || exit 1; done", home,
  table.concat(list, " "), cc)))
