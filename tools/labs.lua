-- labs.lua COURSE NAME OUT -- the two webs of a lab: OUT/reference/WEB.w is the web with the "shape" hunks of COURSE/NAME.ch, OUT/skeleton/WEB.w
-- with all of them.  A hunk is CWEB's: @x, lines of the web, @y, lines instead, @z; the word before @x is shape or cut.  Hunks stand in
-- the web's order.  A hunk whose lines are not in the web, or stand in it twice, is an error: the chapter has changed under the lab.
local course, name, out = arg[1], arg[2], arg[3]
local function stop(...) io.stderr:write(string.format(...), "\n"); os.exit(1) end
local function lines(f)
  local h = io.open(f, "rb") or stop("labs.lua: cannot read %s", f)
  local l = {}
  for x in (h:read("a"):gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do l[#l + 1] = x end
  h:close()
  return l
end
local change = course .. "/" .. name .. ".ch"
local web, hunks, hunk, part, word
for n, l in ipairs(lines(change)) do
  web = web or l:match("A change file for (%S+%.w)")
  if l:match("^@x%s*$") then
    if word ~= "shape" and word ~= "cut" then stop("%s:%d: a hunk begins without the word shape or cut before it", change, n) end
    hunk = { cut = word == "cut", from = {}, to = {}, line = n }
    part, word = hunk.from, nil
  elseif l:match("^@y%s*$") and hunk then part = hunk.to
  elseif l:match("^@z%s*$") and hunk then hunks = hunks or {}; hunks[#hunks + 1] = hunk; hunk, part = nil, nil
  elseif hunk then part[#part + 1] = l
  else word = l:match("^(%a+):") or l:match("^(%a+)$") or word end
end
if not web then stop("%s: its first lines do not say `A change file for WEB.w'", change) end
if hunk or not hunks then stop("%s: a hunk without an end, or none at all", change) end
local text = lines(web)
local function at(h, i) for k, l in ipairs(h.from) do if text[i + k - 1] ~= l then return false end end return true end
for _, h in ipairs(hunks) do
  local n = 0
  for i = 1, #text do if at(h, i) then n = n + 1; h.at = i end end
  if n ~= 1 then stop("%s:%d: %s has the lines of this hunk %s; the lab must follow the chapter", change, h.line, web, n == 0 and "nowhere" or n .. " times") end
end
for _, kind in ipairs { "reference", "skeleton" } do
  local new, i = {}, 1
  for _, h in ipairs(hunks) do
    if h.at < i then stop("%s:%d: this hunk belongs before the one above it", change, h.line) end
    while i < h.at do new[#new + 1] = text[i]; i = i + 1 end
    for _, l in ipairs((kind == "skeleton" or not h.cut) and h.to or h.from) do new[#new + 1] = l end
    i = i + #h.from
  end
  while i <= #text do new[#new + 1] = text[i]; i = i + 1 end
  os.execute("mkdir -p '" .. out .. "/" .. kind .. "'")
  local f = assert(io.open(out .. "/" .. kind .. "/" .. web:match("[^/]*$"), "wb"))
  f:write(table.concat(new, "\n"), "\n")
  f:close()
end
print(web)
