-- claims.lua claims.tsv -- every claim of the five tutorials has a chapter, and the chapters that are there decide theirs.
-- A row:  ID<TAB>verdict<TAB>chapter[<TAB>witness].  A claim of a chapter that is there must be printed by a program under
-- the key claim.ID, or have a witness: test:NAME (a function in tests/), sec:LABEL or lab:LABEL (a place in a chapter or in the laboratory).
-- What is wrong, off by one or misleading must stand in a box \begin{tutorial}{...}{...ID...} of some chapter.
local function slurp(f) local h = io.open(f, "rb"); if not h then return "" end; local s = h:read("a"); h:close(); return s end
local text, tests, keys, there = "", "", {}, {}
package.path = "tools/?.lua;" .. package.path
for _, row in ipairs(require "book") do text, there[row.shown] = text .. slurp(row.web), true end
for f in io.popen("ls tests/check_*.c"):lines() do tests = tests .. slurp(f) end
for l in io.popen("cat build/values/*.val 2>/dev/null"):lines() do local k = l:match("^claim%.(%S+)"); if k then keys[k] = true end end
local boxed = {}
for ids in text:gmatch("\\begin{tutorial}{%w+}{([^}]*)}") do for id in ids:gmatch("S%d%-%d+") do boxed[id] = true end end
local rows, decided, bad, seen = 0, 0, 0, {}
for l in io.lines(arg[1]) do
  local id, verdict, chapter, witness = l:match("^(S%d%-%d+)\t([%w/-]+)\t(%w+)\t?(.*)$")
  if l:sub(1, 1) ~= "#" then
    local function complain(s) bad = bad + 1; print((id or l) .. " (chapter " .. (chapter or "?") .. "): " .. s) end
    rows = rows + 1
    if not id then complain("not a row") elseif seen[id] then complain("stands twice") else
      seen[id] = true
      if there[chapter] then
        decided = decided + 1
        local kind, name = witness:match("^(%a+):(.+)$")
        if kind == "test" then if not tests:find(name, 1, true) then complain("no test " .. name) end
        elseif kind == "sec" or kind == "lab" or kind == "fig" or kind == "tab" or kind == "eq" then if not text:find("{" .. witness .. "}", 1, true) then complain("no label " .. witness) end
        elseif not keys[id] then complain("no program prints claim." .. id .. ", and there is no other witness") end
        if (verdict == "wrong" or verdict == "off-by-one" or verdict == "misleading") and not boxed[id] then complain(verdict .. ", and in no box") end
      end
    end
  end
end
for id in pairs(keys) do if not seen[id] then bad = bad + 1; print(id .. ": printed, but no row") end end
for id in pairs(boxed) do if not seen[id] then bad = bad + 1; print(id .. ": in a box, but no row") end end
if rows ~= 341 then bad = bad + 1; print(rows .. " rows, 341 wanted") end
print(string.format("%d claims, %d of chapters that are there, %d faults", rows, decided, bad))
os.exit(bad == 0)
