-- kills.lua NAME [FEW] -- grades the wrong answers of a lab (course/NAME/wrong.txt, changes of the reference) and its cheats (course/cheats.txt and
-- course/NAME/cheats.txt, changes of the skeleton), and prints which tests found each.  A wrong answer with all points and a cheat with
-- any are errors; so are a reference without all points and a skeleton with some.  FEW: only every FEWth answer.
-- All of them are also written to build/labs/NAME.kills.tsv: lab, wrong, cheat or other, what it is, points, the tests that found it (or the
-- grader's sentence).
-- An entry: # what it is; then == FILE (or == first, the first file of the lab), "-" lines of the file and "+" lines instead; without "-"
-- lines the "+" lines are put at the end.  In them @LAB@ is the lab, @KEY@ its key, @FIRST@ its first file; @ZERO@, @LATIN@ and @ESCAPE@ are bytes 0, f6, 1b.
-- A cheat is tried once more with what the kernel may lack taken away (CAGE_WITHOUT).  Whatever is handed in, the grader ends with status 0 and a
-- record, and shows nothing of another file.
local name, few = arg[1], tonumber(arg[2] or "1")
local key, tmp = "build/labs/" .. name .. ".key", "build/labs/" .. name .. ".tmp"
local C = dofile("tools/ctokens.lua")
local function slurp(f) local h = io.open(f, "rb"); if not h then return nil end; local s = h:read("a"); h:close(); return s end
local function stop(...) io.stderr:write("kills.lua: ", string.format(...), "\n"); os.exit(1) end
local files = {}
for f in (slurp(key .. "/files") or stop("no key %s; make labs", key)):gmatch("%S+") do files[#files + 1] = f end
local function entries(path)
  local list, e, edit = {}, nil, nil
  for l in ((slurp(path) or "") .. "\n"):gmatch("(.-)\n") do
    if l:match("^# ") then
      if not e or #e.edits > 0 then e = { what = l:sub(3), edits = {} }; list[#list + 1] = e else e.what = e.what .. " " .. l:sub(3) end
      edit = nil
    elseif l:match("^== ") then
      local f = l:sub(4)
      edit = { file = f == "first" and files[1] or f, pairs = {} }
      e.edits[#e.edits + 1] = edit
    elseif edit and l:match("^[-+]") then
      local p = edit.pairs[#edit.pairs]
      if not p or (l:sub(1, 1) == "-" and #p.new > 0) then p = { old = {}, new = {} }; edit.pairs[#edit.pairs + 1] = p end
      local to = l:sub(1, 1) == "-" and p.old or p.new
      to[#to + 1] = l:sub(2)
    end
  end
  return list
end
local room = tmp .. "/try"
local cwd = io.popen("pwd"):read("l")
local bytes = { LAB = name, KEY = cwd .. "/" .. key, FIRST = files[1], ZERO = "\0", LATIN = "\xf6", ESCAPE = "\x1b" }
local bad = 0
local function complain(...) bad = bad + 1; print("FAULT: " .. string.format(...)) end
-- the files of FROM with the edits of an entry, or what is wrong with it. The old text is found letter by letter or, if layout or comments
-- have changed since, token by token
local function edited(from, e)
  local text = {}
  for _, f in ipairs(files) do text[f] = slurp(from .. "/" .. f) end
  for _, edit in ipairs(e and e.edits or {}) do
    for _, p in ipairs(edit.pairs) do
      local old, new = table.concat(p.old, "\n"), table.concat(p.new, "\n"):gsub("@(%u+)@", bytes)
      local s = text[edit.file]
      if not s then return nil, string.format("%s: no file %s", e.what, edit.file) end
      local a, b = s:find(old, 1, true)
      if old == "" then text[edit.file] = s .. new .. "\n"
      elseif a and not s:find(old, b + 1, true) then text[edit.file] = s:sub(1, a - 1) .. new .. s:sub(b + 1)
      else
        local t, why = C.replaced(s, old, new)
        if not t then return nil, string.format("%s: the old text %s in %s", e.what, why, edit.file) end
        text[edit.file] = t
      end
    end
  end
  return text
end
local function grade(from, e, without)
  os.execute("rm -rf " .. room .. " && mkdir -p " .. room)
  local text, why = edited(from, e)
  if not text then stop("%s", why) end
  for f, s in pairs(text) do local h = assert(io.open(room .. "/" .. f, "wb")); h:write(s); h:close() end
  os.remove(room .. ".json")
  local began = os.time()
  local ended = os.execute((without and "CAGE_WITHOUT='" .. without .. "' " or "") .. "build/labs/incipit-grade " .. key .. " " .. room
    .. " --seed kills --json " .. room .. ".json > " .. room .. ".txt 2> " .. room .. ".err")
  local out, what = slurp(room .. ".txt"), e and e.what or from
  if not ended or not (slurp(room .. ".json") or ""):match("}%s*$") then complain("the grader ended without a record: %s", what); return 0, 0, "", "", "" end
  if out:find("root:", 1, true) then complain("a file that is not the student's is shown: %s", what) end
  local score, of = out:match("(%d+) of (%d+) points\n$")
  local found, n = {}, 0
  for t in (slurp(room .. ".json") or ""):gmatch("{.-}") do
    local test, points = t:match('"name": "(.-)"'), t:match('"points": (%d+)')
    if test and points == "0" then found[#found + 1] = test end
  end
  return tonumber(score), tonumber(of), table.concat(found, " "), out:match("^(.-)\n"), out:match("\n%s+([^\n]*)"), os.time() - began
end
local table_of = assert(io.open("build/labs/" .. name .. ".kills.tsv", "w"))
local function tell(kind, what, points, how) table_of:write(name, "\t", kind, "\t", what, "\t", points, "\t", how or "", "\n") end
local n, cheats, others = 0, 0, 0
-- the published table, course/kills.tsv, has every one of them, and what it says of those that are tried here is true
local published = {}
for l in (few > 1 and slurp("course/kills.tsv") or ""):gmatch("[^\n]+") do
  local of_lab, kind, what, points, how = l:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
  if of_lab == name then published[kind .. ":" .. what] = points .. " " .. how end
end
local function check_published(kind, e, s, how)
  local p = published[kind .. ":" .. e.what]
  if few > 1 and not p then complain("course/kills.tsv does not have it; make kill-matrix: %s", e.what)
  elseif few > 1 and s and p ~= s .. " " .. how then complain("course/kills.tsv says %s: %s", p, e.what) end
end
-- every entry has its place, also those that are not tried this time
for _, l in ipairs { { "wrong", tmp .. "/answer" }, { "other", tmp .. "/answer" }, { "cheats", "build/labs/" .. name } } do
  for _, e in ipairs(entries("course/" .. name .. "/" .. l[1] .. ".txt")) do
    local text, why = edited(l[2], e)
    if not text then complain("%s", why) end
  end
end
if os.getenv("PLACES") then os.exit(bad == 0) end
local score, of = grade(tmp .. "/answer")
if score ~= of or grade(tmp .. "/answer", nil, "namespaces landlock") ~= of then complain("the reference has %d of %d points", score, of) end
score = grade("build/labs/" .. name)
if score ~= 0 then complain("the skeleton has %d points", score) end
local turn = 0
local function tried() turn = turn + 1; return turn % few == 0 end
for _, e in ipairs(entries("course/" .. name .. "/wrong.txt")) do
  if not tried() then check_published("wrong", e)
  else
    local s, of, found, first = grade(tmp .. "/answer", e)
    n = n + 1
    if s == of then complain("survives: %s", e.what) end
    if first and not first:match("^ok") and not first:match("^not ") then complain("%s: %s", e.what, first); found = "-" end
    print(string.format("%3d of %3d  %-60s  %s", s, of, e.what:sub(1, 60), found))
    tell("wrong", e.what, s, found)
    check_published("wrong", e, s, found)
  end
end
for _, list in ipairs { entries("course/cheats.txt"), entries("course/" .. name .. "/cheats.txt") } do
  for _, e in ipairs(list) do
    check_published("cheat", e)
    if tried() then
      local s, of, _, first, feedback, took = grade("build/labs/" .. name, e)
      local bare = took > 3 and 0 or grade("build/labs/" .. name, e, "namespaces landlock")
      if bare > 0 then complain("%d points for a cheat where the kernel helps least: %s", bare, e.what) end
      if (first or ""):match("^not ") then first = feedback end
      cheats = cheats + 1
      if s > 0 then complain("%d points for a cheat: %s", s, e.what) end
      print(string.format("%3d of %3d  %-60s  %s", s, of, e.what:sub(1, 60), (first or ""):sub(1, 90)))
      tell("cheat", e.what, s, first)
    end
  end
end
for _, e in ipairs(entries("course/" .. name .. "/other.txt")) do
  check_published("other", e)
  if tried() then
    local s, of, found, first = grade(tmp .. "/answer", e)
    others = others + 1
    tell("other", e.what, s, found)
    if s ~= of then complain("%d of %d points for a right answer, %s: %s (%s)", s, of, e.what, found, first) end
  end
end
table_of:close()
print(string.format("%s: %d wrong answers, %d cheats and %d other right ones, %d faults", name, n, cheats, others, bad))
os.exit(bad == 0)
