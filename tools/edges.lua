-- edges.lua [csv] -- what the modules of tangled/ include, against book.list: a module includes only what it needs, what it needs stands
-- before it (a program may need any), its title is its web's; a module of the book includes of the workshop only headers that the book prints.
-- Within program/ and within each module no files call each other in a circle.  With csv: the edges, as the figure wants them.
package.path = arg[0]:match("^(.-)[^/]*$") .. "?.lua;" .. package.path
local book = require "book"
local C = dofile("tools/ctokens.lua")
local function slurp(f) local h = io.open(f, "rb"); if not h then return "" end; local s = h:read("a"); h:close(); return s end
local bad = 0
local function complain(...) bad = bad + 1; io.stderr:write("book.list: ", string.format(...), "\n") end
local place = {}
for i, row in ipairs(book) do place[row.module] = i end
local function closed(list, into)
  for _, m in ipairs(list) do
    if not into[m] then into[m] = true; if book[m] then closed(book[m].needs, into) end end
  end
  return into
end
local printed = {}                           -- headers of the workshop that a chapter prints
for _, row in ipairs(book) do
  if row.folder == "chapters" then for h in slurp(row.web):gmatch("\\printedheader%b[]{([^}]*)}") do printed[h] = true end end
end
local edges, floor = {}, {}
for i, row in ipairs(book) do
  local title = slurp(row.web):match("\n@%*%* ([^.]*)%.")
  if title ~= row.title then complain("%s is called %s here and %s in its web", row.module, row.title, title or "nothing") end
  for _, m in ipairs(row.needs) do
    if not place[m] then complain("%s needs %s, which is not in the table", row.module, m)
    elseif place[m] >= i then complain("%s needs %s, which stands behind it", row.module, m) end
  end
  local may, seen = closed(row.needs, { [row.module] = true }), {}
  for f in io.popen(row.folder == "laboratory" and "true" or "ls tangled/" .. row.module .. "/* unwoven/" .. row.module .. "/* 2>/dev/null"):lines() do
    for m, h in slurp(f):gmatch('#include "([^/"]+)/([^"]+)"') do
      if not may[m] then complain("%s includes %s/%s, but %s does not need %s", f, m, h, row.module, m) end
      if row.folder == "chapters" and book[m] and book[m].folder == "workshop" and h:match "%.h$" and not printed[m .. "/" .. h] then
        complain("%s includes %s/%s, a header of the workshop that no chapter prints", f, m, h)
      end
      if m ~= row.module and not seen[m] then seen[m] = true; edges[#edges + 1] = { row.module, m } end
    end
  end
  floor[row.module] = 1
  for m in pairs(seen) do floor[row.module] = math.max(floor[row.module], (floor[m] or 0) + 1) end
  local program = closed(row.program, closed(row.needs, { [row.module] = true }))
  for m, h in slurp((row.folder == "laboratory" and "build/tangled/" or "tangled/checkpoints/") .. row.module .. ".c"):gmatch('#include "([^/"]+)/([^"]+)"') do
    if not program[m] and m ~= "laboratory" then complain("the program of %s includes %s/%s, which it does not need", row.module, m, h) end
  end
end
-- A file stands above another if it uses a function that the other defines. What is static has a meaning in its own file alone; a
-- definition begins at the left margin and has a body.
local function uses(files)
  local word, home = {}, {}                  -- the words of each file, and where a function is defined
  for _, f in ipairs(files) do
    local s = slurp(f)
    word[f] = {}
    local first, last, n = C.tokens(s)
    for k = 1, n do word[f][s:sub(first[k], last[k])] = true end
    for head, name in ("\n" .. s):gmatch "\n([%a_][%w_ %*]-[ %*])([%a_][%w_]*)%([^;{}]*%)%s*{" do
      if not head:find "%f[%w_]static%f[^%w_]" then home[name] = f end
    end
  end
  local below = {}
  for _, f in ipairs(files) do
    below[f] = {}
    for name, h in pairs(home) do if h ~= f and word[f][name] then below[f][h] = name end end
  end
  return below
end
-- two files that stand above each other, if there are such, and what one of them uses on the way back
local function circle(files)
  local below = uses(files)
  local function reaches(from, to, seen)
    for f in pairs(below[from]) do
      if f == to then return from end
      if not seen[f] then seen[f] = true; local last = reaches(f, to, seen); if last then return last end end
    end
  end
  for _, f in ipairs(files) do
    local last = reaches(f, f, {})
    if last then return f, last, below[last][f] end
  end
end
local function straight(folders)
  local files = {}
  for f in io.popen("ls " .. folders .. " 2>/dev/null"):lines() do files[#files + 1] = f end
  local f, last, by = circle(files)
  if f then complain("%s and %s are in a circle: %s uses %s", f, last, last, by) end
end
straight("program/*.c")
for _, row in ipairs(book) do
  if row.folder ~= "laboratory" then straight(string.format("tangled/%s/*.c unwoven/%s/*.c", row.module, row.module)) end
end
if arg[1] == "csv" then
  print("module,folder,floor,needs")
  for _, row in ipairs(book) do
    local list = {}
    for _, e in ipairs(edges) do if e[1] == row.module then list[#list + 1] = e[2] end end
    table.sort(list)
    if row.folder ~= "laboratory" and not row.module:find("/") then print(string.format("%s,%s,%d,%s", row.module, row.folder, floor[row.module], table.concat(list, " "))) end
  end
end
if bad > 0 then os.exit(1) end
