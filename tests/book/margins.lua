-- margins.lua -- every entry of the mini-indexes (build/book.cwm) leads from a section that uses the name to the section that defines it:
-- the definition is at the level of a file, in the header of a module that the section's files include or in a file of the section's own
-- module, and the section's C has the name elsewhere than after . or ->.  (A comment may also mention what is not included.)  Includes are followed in the C, not taken from book.list.
local ctokens, book = dofile("tools/ctokens.lua"), dofile("tools/book.lua")
local slurp = ctokens.slurp
local rows = {}
for _, row in ipairs(book) do rows[row.shown] = row end
local function bare(text) return (text:gsub("/%*.-%*/", " "):gsub('"[^"\n]*"', '""')) end
-- headers that a module's files include, and those that these include
local function files(m)
  if not m:find("^laboratory/") then m = m:gsub("/.*", "") end
  local p, t = io.popen("ls tangled/" .. m .. "/* unwoven/" .. m .. "/* build/tangled/" .. m .. "*.[ch] tangled/checkpoints/" .. m .. ".c 2>/dev/null"), {}
  for f in p:lines() do t[#t + 1] = f end
  p:close()
  return t
end
local reach = {}
local function headers(m)
  if reach[m] then return reach[m] end
  local seen = {}
  local function follow(f)
    if seen[f] then return end
    local h = io.open(f); if not h then return end
    h:close(); seen[f] = true
    for x in slurp(f):gmatch('#%s*include%s+"([^"]+)"') do for _, root in ipairs { "tangled/", "unwoven/", "build/tangled/" } do follow(root .. x) end end
  end
  for _, f in ipairs(files(m)) do follow(f) end
  reach[m] = seen
  return seen
end
local text = {}
local function code(f) text[f] = text[f] or bare(slurp(f)); return text[f] end
-- is name declared in f as a function, a type, an enumerator or a macro, outside of every body?
local function gives(f, name)
  local t = code(f)
  if ("\n" .. t):find("\n#%s*define%s+" .. name .. "%f[^%w_]") then return true end
  for body in t:gmatch("%f[%w]enum%s*[%w_]*%s*(%b{})") do if body:find("%f[%w_]" .. name .. "%f[^%w_]") then return true end end
  t = t:gsub("(struct%s+[%w_]+)%s*%b{}", "%1{}"):gsub("(union%s+[%w_]+)%s*%b{}", "%1{}"):gsub("%b{}", "{}")
  if t:find("%f[%w](struct%s+)" .. name .. "{}") or t:find("%f[%w](union%s+)" .. name .. "{}") or t:find("%f[%w](enum%s+)" .. name .. "%s*{}") then return true end
  return t:find("[%w_*]%s+%*?" .. name .. "%s*%(") ~= nil or t:find("%*" .. name .. "%s*%(") ~= nil or t:find("[%w_*]%s+%*?" .. name .. "%s*[%[=;]") ~= nil
end
local webs = {}
local function section(row, n)
  if not webs[row.web] then
    local s, list, starts = "\n" .. slurp(row.web), {}, {}
    for p in s:gmatch("\n()@[ *\n\t]") do starts[#starts + 1] = p end
    for i, p in ipairs(starts) do list[i] = s:sub(p, (starts[i + 1] or #s + 1) - 1) end
    webs[row.web] = list
  end
  return webs[row.web][n] or ""
end
local n, bad = 0, 0
local function fault(...) bad = bad + 1; print(string.format(...)) end
for line in io.lines("build/book.cwm") do
  local chap, sec = line:match("^\\cwnote{(%w+)}{(%d+)}")
  for tex, there, at in line:gmatch("\\cwmini{\\[\\&.]{(.-)}}{(%w+)}{(%d+)}") do
    local name, here, target = tex:gsub("\\_", "_"), rows[chap], rows[there]
    n = n + 1
    local s = section(here, tonumber(sec))
    local free = false
    for before, arrow in s:gmatch("()%f[%w_]" .. name .. "%f[^%w_]()") do
      local left = s:sub(math.max(1, before - 2), before - 1)
      if not left:find("%->$") and not left:find("%.$") then free = true end
    end
    local where = section(target, tonumber(at))
    local found = false
    if here == target then
      for _, f in ipairs(files(here.module)) do found = found or gives(f, name) end
    else
      for f in pairs(headers(here.module)) do
        local of = (target.folder == "laboratory" and target.module or target.module:gsub("/.*", "")):gsub("%-", "%%-") .. "[%w_/-]*%.h$"
        if f:find("tangled/" .. of) or f:find("unwoven/" .. of) then found = found or gives(f, name) end
      end
    end
    if not free then fault("%s.%s: %s stands there only as a member", chap, sec, name)
    elseif not where:find("%f[%w_]" .. name .. "%f[^%w_]") then fault("%s.%s: %s.%s does not have %s", chap, sec, there, at, name)
    elseif not found and not s:find("|" .. name .. "|", 1, true) then fault("%s.%s: %s of %s is in no header that is included", chap, sec, name, target.module) end
  end
end
print(n .. " entries of the margins, " .. bad .. " faults")
os.exit(bad == 0 and n > 1000)
