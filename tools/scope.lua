-- scope.lua -- which names a module gives to others and has at the level of its files, and which names a section of a web really uses.
--   scope.module(MODULE)  { shown = names of its headers, own = names of all its files, lib = declared elsewhere as a local or a member }
--   scope.sections(WEB)   for each section, a list of its tokens (strings), without the names of sections; told, the names in its comments
--   scope.used(tokens, name, kind, locals)  whether name stands there as a name of file scope, and not as a member or a local
--   scope.visible(MODULE)  the modules whose headers it may include, from book.list
-- What is found in a text is kept in build/scope, with the text's digest, until the text changes.
local ctokens, book = dofile("tools/ctokens.lua"), dofile("tools/book.lua")
local M = {}

-- what compute finds, a table of lists of strings, or what it found in the same text before: lines, their words between \1
local function kept(name, text, compute)
  local file, sum, found = "build/scope/" .. name:gsub("/", "-"), md5.sumhexa(text), {}
  local h = io.open(file, "rb")
  local kept_text = h and h:read("a") or ""
  if h then h:close() end
  if kept_text:sub(1, 33) == sum .. "\n" then
    for line in kept_text:sub(34):gmatch("([^\n]*)\n") do
      local t = {}
      for w in line:gmatch("[^\1]+") do t[#t + 1] = w end
      found[#found + 1] = t
    end
    return found
  end
  found = compute(text)
  os.execute("mkdir -p build/scope")
  local lines = { sum }
  for i, t in ipairs(found) do lines[i + 1] = table.concat(t, "\1") end
  local new = file .. "." .. os.tmpname():gsub(".*/", "")
  h = io.open(new, "wb")
  if h then h:write(table.concat(lines, "\n"), "\n"); h:close(); os.rename(new, file) end
  return found
end

local function words(text)
  local first, last, n = ctokens.tokens(text)
  local t = {}
  for i = 1, n do t[i] = text:sub(first[i], last[i]) end
  return t
end
local function name(t) return t and t:find("^[%a_][%w_]*$") ~= nil end
local notype = {}
for w in ("return else case goto sizeof if while for do switch break continue struct union enum default"):gmatch("%a+") do notype[w] = true end

-- name number i of t is declared there as a variable, a parameter or a member: a type or a star stands before it
local function declared(t, i)
  local before, after = t[i - 1], t[i + 1] or ";"
  if before == "*" then
    local k = i - 1
    while t[k] == "*" or t[k] == "const" or t[k] == "restrict" do k = k - 1 end
    if not name(t[k]) or notype[t[k]] then return false end
    return after == ";" or after == "," or after == ")" or after == "=" or after == "[" or after == "{"
  end
  if before == "," and (after == "=" or after == ";" or after == ",") then return nil end       -- perhaps
  return name(before) and not notype[before] and (after == ";" or after == "," or after == ")" or after == "=" or after == "[" or after == ":")
end

-- the names of one file: those that it gives to others if it is a header, all at its level, and those of locals and members
local function names(text)
  local own, locals = {}, {}
  local function give(n) own[#own + 1] = n end
  for n in text:gmatch("\n#%s*define%s+([%a_][%w_]*)") do give(n) end
  text = ("\n" .. text):gsub("\\\n", " "):gsub("\n#[^\n]*", "\n")
  local t, depth, enum = words(text), 0, nil
  for i, w in ipairs(t) do
    if w == "{" or w == "(" or w == "[" then
      depth = depth + 1
      if w == "{" and (t[i - 1] == "enum" or t[i - 2] == "enum") then enum = depth end
    elseif w == "}" or w == ")" or w == "]" then
      if enum == depth then enum = nil end
      depth = depth - 1
    elseif name(w) then
      if (t[i - 1] == "struct" or t[i - 1] == "union" or t[i - 1] == "enum") and t[i + 1] == "{" then give(w)
      elseif enum == depth and (t[i - 1] == "{" or t[i - 1] == ",") then give(w)
      elseif depth == 0 and t[i + 1] == "(" and (name(t[i - 1]) or t[i - 1] == "*") and not notype[t[i - 1]] then give(w)
      elseif depth == 0 and declared(t, i) then give(w)
      elseif depth == 0 and t[i + 1] == ";" and t[i - 1] == "}" then give(w)
      elseif depth > 0 and declared(t, i) then locals[#locals + 1] = w end
    end
  end
  return { own, locals }
end

local modules = {}
function M.module(m)
  if not m:find("^laboratory/") then m = m:gsub("/.*", "") end                                  -- its files are with those of its headers
  if modules[m] then return modules[m] end
  local r = { shown = {}, own = {}, locals = {} }
  modules[m] = r
  local files = io.popen("ls tangled/" .. m .. "/*.[ch] tangled/" .. m .. "/*.inc unwoven/" .. m .. "/*.[ch] unwoven/" .. m .. "/*.inc tangled/checkpoints/" .. m .. ".c build/tangled/" .. m .. "*.[ch] 2>/dev/null")
  for f in files:lines() do
    local found = kept(f, ctokens.slurp(f), names)
    for _, n in ipairs(found[1]) do
      r.own[n] = true
      if f:find("%.h$") then r.shown[n] = true end
    end
    for _, n in ipairs(found[2]) do r.locals[n] = true end
  end
  files:close()
  return r
end

-- for each section its tokens, then the names in its comments
local function sections(text)
  local starts, list = {}, {}
  text = "\n" .. text
  for p in text:gmatch("\n()@[ *\n\t]") do starts[#starts + 1] = p end
  for i, p in ipairs(starts) do
    local s = text:sub(p + 2, (starts[i + 1] or #text + 1) - 1)
    local _, b = s:find("@[<(].-@>%s*%+?=")
    local c = s:find("@c%s")
    local code = b and not (c and c < b) and s:sub(b + 1) or c and s:sub(c + 2) or ""
    local told = {}                                         -- |name| in a comment
    for comment in code:gmatch("/%*.-%*/") do for n in comment:gmatch("|([%a_][%w_]*)|") do told[#told + 1] = n end end
    code = code:gsub("/%*.-%*/", " "):gsub("@[<(].-@>", ";"):gsub("@[%^.:].-@>", " "):gsub("@@", "\1"):gsub("@[%[%];,|/+&# ]", " ")
    list[2 * i - 1] = words(code:gsub("\1", "@"):gsub("\\\n", " "):gsub("\n#%s*include[^\n]*", "\n"))
    list[2 * i] = told
  end
  return list
end

function M.sections(web)
  local found, list = kept(web, ctokens.slurp(web), sections), {}
  for i = 1, #found, 2 do
    local t = found[i]
    t.told = {}
    for _, n in ipairs(found[i + 1]) do t.told[n] = true end
    list[#list + 1] = t
  end
  return list
end

-- kind "f": a function; else a type, an enumerator or a macro
function M.used(t, w, kind, locals)
  local here = false                                        -- declared as a local in this very section
  for i = 1, #t do if t[i] == w and t[i - 1] ~= "." and t[i - 1] ~= "->" and declared(t, i) then here = true end end
  for i = 1, #t do
    if t[i] == w and t[i - 1] ~= "." and t[i - 1] ~= "->" then
      local before = t[i - 1]
      if before == "struct" or before == "union" or before == "enum" then if kind ~= "f" then return true end
      elseif t[i + 1] == "(" and (not name(before) or notype[before]) then if not (here and locals[w]) then return true end
      elseif not here and not locals[w] and not (name(before) and not notype[before])
        and not (t[i + 1] == ":" and (not before or before == ";" or before == "{" or before == "}")) then return true end
    end
  end
  return t.told[w] and not here and not locals[w] or false
end

local visible = {}
function M.visible(m)
  if visible[m] then return visible[m] end
  local v, row = {}, book[m]
  visible[m] = v
  local function take(x) if book[x] and not v[x] then v[x] = true; for _, y in ipairs(book[x].needs) do take(y) end end end
  take(m)
  for _, x in ipairs(row and row.program or {}) do take(x) end
  return v
end
M.book = book
return M
