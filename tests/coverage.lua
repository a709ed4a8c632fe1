-- coverage.lua coverage.tsv -- every clause of the plan has its chapter, its witness and its command.
-- A row:  ID<TAB>clause<TAB>chapter.section label or -<TAB>witness<TAB>command
-- witness: test:NAME (a Check test, a tallied file or a check of run.sh, which must have passed in the last make check),
-- key:NAME (a printed key), file:PATH (a committed file); several with commas; empty: not done, counted and printed.
local function slurp(f) local h = io.open(f, "rb"); if not h then return "" end; local s = h:read("a"); h:close(); return s end
local ran = {}
for l in io.popen("cat build/tests/*.tap 2>/dev/null"):lines() do local k = l:match("^ok %d+ %- [^:]*:[^:]*:([%w_]+)"); if k then ran[k] = true end end
for l in io.popen("cat build/tests/tally.tsv 2>/dev/null"):lines() do local k, p = l:match("^([^\t]+)\t(%d+)"); if k and tonumber(p) > 0 then ran[k] = true end end
local keys = {}
for l in io.popen("cat build/values/*.val 2>/dev/null"):lines() do local k = l:match("^(%S+)%s"); if k then keys[k] = true end end
local webs = ""
for f in io.popen("ls chapters/*.w workshop/*.w laboratory/*.w chapters/*.tex book.tex 2>/dev/null"):lines() do webs = webs .. slurp(f) end
local rows, empty, wrong, seen = 0, {}, 0, {}
for l in io.lines(arg[1]) do
  if not l:match("^#") and l ~= "" then
    local id, clause, where, witness, command = l:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t?(.*)$")
    rows = rows + 1
    local function complain(s) wrong = wrong + 1; print((id or l) .. ": " .. s) end
    if not id then complain("not five columns") else
      if seen[id] then complain("stands twice") end
      seen[id] = true
      if where ~= "-" and where ~= "" and not webs:find("{" .. where .. "}", 1, true) then complain("no section has the label " .. where) end
      if witness == "" then empty[#empty + 1] = id .. "  " .. clause end
      for w in witness:gmatch("[^,]+") do
        local kind, name = w:match("^(%a+):(.+)$")
        if kind == "test" then if not ran[name] then complain("the test " .. name .. " did not pass in the last make check") end
        elseif kind == "key" then if not keys[name] then complain("no program printed the key " .. name) end
        elseif kind == "file" then if not io.open(name) then complain("there is no file " .. name) end
        else complain("unknown witness " .. w) end
      end
    end
  end
end
for _, e in ipairs(empty) do print("empty: " .. e) end
print(string.format("%d rows, %d with a witness, %d empty, %d wrong", rows, rows - #empty, #empty, wrong))
os.exit(wrong == 0)
