-- amalgamate.lua FOLDER SOURCE... -- the library in one file: FOLDER/incipit.c, which is all SOURCEs with their headers, and FOLDER/incipit.h.
-- Functions become static, but for those of incipit.h; variables that modules share get the prefix incipit__; names of file scope that two
-- sources have (functions, variables, tags, enumerators, types), or that another source has for something else (a parameter, a field),
-- get the number of their source; macros end with their source.
local C = dofile("tools/ctokens.lua")
local folder = table.remove(arg, 1)
local function set(words) local s = {}; for w in words:gmatch("%S+") do s[w] = true end; return s end
local keywords = set "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool _Static_assert __attribute__ _Thread_local"

-- the text without directives, each replaced by blanks, and the directives as { first, last, text }
local function without_directives(s)
  local list, at = {}, 1
  local plain = s:gsub("/%*.-%*/", function(c) return (c:gsub("[^\n]", " ")) end)
  while at <= #plain do
    local stop = plain:find("\n", at, true) or #plain
    if plain:find("^[ \t]*#", at) then
      while plain:sub(stop - 1, stop - 1) == "\\" do stop = plain:find("\n", stop + 1, true) or #plain end
      list[#list + 1] = { at, stop, s:sub(at, stop) }
      plain = plain:sub(1, at - 1) .. plain:sub(at, stop):gsub("[^\n]", " ") .. plain:sub(stop + 1)
    end
    at = stop + 1
  end
  return plain, list
end

-- the declarations of file scope of a text: what each declares, and where it begins; a name may be declared with a type of functions
local of_functions = {}
local function items(s)
  local plain, directives = without_directives(s)
  local first, last, n = C.tokens(plain)
  local t = {}
  for k = 1, n do t[k] = plain:sub(first[k], last[k]) end
  local list, k = {}, 1
  while k <= n do
    local item = { at = first[k], from = k, static = false, tags = {}, names = {}, shared = {} }
    local depth, name, body, listing = 0, nil, nil, nil
    local kind = t[k] == "typedef" and "typedef" or "variable"
    while k <= n do
      local x = t[k]
      if depth == 0 then
        if x == "static" or x:find("INLINE$") or x == "HELPER" or x == "NUM_PRIVATE" or x == "NUM_TABLE" then item.static = true end   -- macros that say static
        if x == "extern" then item.extern = true end
        if (x == "struct" or x == "union" or x == "enum") and t[k + 1]:find("^[%a_]") then
          if t[k + 2] == "{" then item.tags[#item.tags + 1] = t[k + 1] elseif t[k + 2] == ";" and k == item.from then item.forward = t[k + 1] end
        end
        if x == "enum" then listing = t[k + 1] == "{" and k + 1 or t[k + 2] == "{" and k + 2 or nil end
        if x == "(" and not item.called and t[k - 1]:find("^[%a_]") and not keywords[t[k - 1]] and not item.set then item.called = t[k - 1] end
        if x == "=" then item.set = true end
        if x == "__attribute__" and kind == "typedef" then item.names[#item.names + 1] = t[k - 1] end
        if (x == "=" or x == ";" or x == "[" or x == ",") and t[k - 1]:find("^[%a_]") and not keywords[t[k - 1]] and not item.called
            and t[k - 2] ~= "struct" and t[k - 2] ~= "enum" and not item.closed_set then
          item.names[#item.names + 1] = t[k - 1]
        end
      end
      if x == "{" or x == "(" or x == "[" then
        if listing == k then                                  -- enumerators
          local d, fresh = 0, true
          for j = k, n do
            if t[j] == "{" or t[j] == "(" then d = d + 1 elseif t[j] == "}" or t[j] == ")" then d = d - 1 end
            if d == 0 then break end
            if fresh and t[j]:find("^[%a_]") then item.names[#item.names + 1] = t[j]; fresh = false end
            if t[j] == "," and d == 1 then fresh = true end
          end
        end
        if x == "{" and depth == 0 and item.called and not item.set then body = true end
        depth = depth + 1
      elseif x == "}" or x == ")" or x == "]" then depth = depth - 1 end
      if depth == 0 and (x == ";" or (x == "}" and body)) then break end
      k = k + 1
    end
    item.to = k
    item.kind = kind
    if kind == "typedef" then
      if item.called then of_functions[item.called] = true; item.names = { item.called }; item.called = nil end
    elseif of_functions[t[item.from]] and t[item.from + 2] == ";" then item.kind = "function"
    elseif item.called and item.called ~= "_Static_assert" and t[item.from] ~= "_Static_assert" then
      item.names = { item.called }; item.kind = "function"
    end
    list[#list + 1] = item
    k = k + 1
  end
  return list, directives, t, first, last, n
end

-- ---- sources with their .inc files, headers apart
local header, headers, order = {}, {}, {}
local system, seen_system = {}, {}
local function hoist(text)
  local stack = {}
  for l in text:gmatch("[^\n]+") do
    if l:find("^%s*#%s*if") then stack[#stack + 1] = l
    elseif l:find("^%s*#%s*el") then stack[#stack] = false
    elseif l:find("^%s*#%s*endif") then stack[#stack] = nil
    elseif l:find("^%s*#%s*include <") then
      local o, fine = {}, true
      for _, c in ipairs(stack) do
        if not c then fine = false elseif not c:find("INCIPIT_[%u%d_]*H%s*$") then o[#o + 1] = c end
      end
      local lines = table.concat(o, "\n") .. (#o > 0 and "\n" or "") .. l .. ("\n#endif"):rep(#o)
      if fine and not seen_system[lines] then seen_system[lines] = true; system[#system + 1] = lines end
    end
  end
end
local function opened(path)
  local s = C.slurp(path):gsub("^/%*.-%*/\n+", "", 1)
  s = s:gsub("\n#define _POSIX_C_SOURCE [^\n]*", ""):gsub("^#define _POSIX_C_SOURCE [^\n]*\n", ""):gsub("#define _DEFAULT_SOURCE[^\n]*\n", ""):gsub("#define PCRE2_CODE_UNIT_WIDTH 8\n", "")
  return s
end
local function read(path)
  local s = opened(path)
  s = ("\n" .. s):gsub('\n#include "([^"]*)"', function(h)
    if h == "library/incipit.h" then return "" end
    if h:find("%.inc$") then return "\n" .. read(C.root(h) .. h) end
    if not header[h] then
      header[h] = true
      local text = read(C.root(h) .. h)
      order[#order + 1] = { path = h, text = text }
    end
    return ""
  end)
  if not path:find("%.inc$") then hoist(s) end   -- under the conditions of the source that includes it
  return s
end
local units = {}
for i, path in ipairs(arg) do units[i] = { path = path, text = read(path) } end

-- ---- who declares what at file scope: [0] the headers, [i] source i; and which sources have a word at all
local tag_of, name_of, prefixed = {}, {}, {}
local has_word = {}
local function enter(into, name, i) into[name] = into[name] or {}; into[name][i] = true end
local function look(text, i)
  local list, directives = items(text)
  for _, x in ipairs(list) do
    for _, g in ipairs(x.tags) do enter(tag_of, g, i) end
    for _, g in ipairs(x.names) do
      if x.extern and x.kind == "variable" then prefixed[g] = true end
      enter(name_of, g, i)
    end
  end
  for _, d in ipairs(directives) do
    local m = d[3]:match("^%s*#%s*define%s+([%a_][%w_]*)")
    if m and i == 0 then enter(name_of, m, 0) end
  end
  return list
end
for _, h in ipairs(order) do look(h.text, 0) end
for i, u in ipairs(units) do
  look(u.text, i)
  local plain = without_directives(u.text)
  for word in plain:gmatch("[%a_][%w_]*") do enter(has_word, word, i) end
end
local function several(owners) local k = 0; for _ in pairs(owners) do k = k + 1 end; return k > 1 end

-- functions become static
local function made_static(text)
  local list = items(text)
  for k = #list, 1, -1 do
    local x = list[k]
    if x.kind == "function" and not x.static and not x.extern and not x.names[1]:find("^incipit_") then
      text = text:sub(1, x.at - 1) .. "static " .. text:sub(x.at)
    end
  end
  return text
end

-- the names of a source that somebody else has, too, get its number; a function that a header declares is the header's
local function renamed(text, i)
  local mine_tag, mine = {}, {}
  local list = items(text)
  local own = {}
  for _, x in ipairs(list) do
    for _, g in ipairs(x.tags) do if several(tag_of[g]) then mine_tag[g] = true end end
    for _, g in ipairs(x.names) do
      local declared = not x.static and x.kind ~= "typedef" and name_of[g][0] and #x.tags == 0
      local elsewhere = several(name_of[g]) or x.kind ~= "typedef" and several(has_word[g])
      if elsewhere and not declared and not prefixed[g] and not g:find("^incipit_") then mine[g] = true end
    end
  end
  local first, last, n = C.tokens(text)
  local t = {}
  for k = 1, n do t[k] = text:sub(first[k], last[k]) end
  local inside, opens = {}, {}                       -- is token k in the body of a struct or union, outside brackets?
  for k = 1, n do
    local x = t[k]
    inside[k] = #opens > 0 and opens[#opens] or false
    if x == "{" then
      local isstruct = t[k - 1] == "struct" or t[k - 1] == "union" or t[k - 2] == "struct" or t[k - 2] == "union"
      opens[#opens + 1] = isstruct and "fields" or false
    elseif x == "(" or x == "[" then opens[#opens + 1] = false
    elseif x == "}" or x == ")" or x == "]" then opens[#opens] = nil end
  end
  local declarator = set "; , [ :"
  local out, at = {}, 1
  for k = 1, n do
    local x, before = t[k], t[k - 1]
    local tag = before == "struct" or before == "union" or before == "enum"
    local change = tag and mine_tag[x] or not tag and mine[x] and before ~= "." and before ~= "->" and not (inside[k] == "fields" and declarator[t[k + 1]])
    if change then
      out[#out + 1] = text:sub(at, first[k] - 1) .. x .. "_" .. i
      at = last[k] + 1
    end
  end
  return table.concat(out) .. text:sub(at)
end

local out = {}
local function put(...) for _, s in ipairs { ... } do out[#out + 1] = s end end
local version = C.slurp("tangled/library/incipit.h"):match('INCIPIT_VERSION "([^"]*)"')
put("/* incipit.c -- the library incipit ", version, " in one file, made from its modules by tools/amalgamate.lua.\n\n",
  "   cc -std=c11 -O2 -ffp-contract=off -c incipit.c\n\n",
  "   A program includes incipit.h and is linked with incipit.o -ljansson -lpcre2-8 -lutf8proc -pthread -lm.\n\n",
  "   This takes minutes: the kernels are compiled for each generation of processors, in one go and on one core\n",
  "   (the library's own Makefile does it in parts, on all cores). Compile it once, by itself; -O1 takes less, and gives the same bits.\n\n",
  (C.slurp("LICENSE"):match("MIT License.*"):gsub("%*/", "")), "*/\n\n",
  "#ifndef _DEFAULT_SOURCE\n#define _DEFAULT_SOURCE\n#endif\n#ifndef _POSIX_C_SOURCE\n#define _POSIX_C_SOURCE 200809L\n#endif\n#define PCRE2_CODE_UNIT_WIDTH 8\n",
  "#if defined __GNUC__\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n")
for _, l in ipairs(system) do put(l, "\n") end
local names = {}
for g in pairs(prefixed) do names[#names + 1] = g end
table.sort(names)
for _, g in ipairs(names) do put("#define ", g, " incipit__", g, "\n") end
put('#include "incipit.h"\n')
for _, h in ipairs(order) do put("\n/* ---- ", h.path, " */\n", made_static(h.text)) end
for i, u in ipairs(units) do
  put("\n/* ---- ", (u.path:gsub("^%l+/", "")), " */\n", made_static(renamed(u.text, i)))
  local _, directives = without_directives(u.text)
  for _, d in ipairs(directives) do
    local m = d[3]:match("^%s*#%s*define%s+([%a_][%w_]*)")
    if m then put("#undef ", m, "\n") end
  end
end
local function write(name, text) local h = assert(io.open(folder .. "/" .. name, "wb")); h:write(text); h:close() end
write("incipit.c", table.concat(out))
write("incipit.h", C.slurp("tangled/library/incipit.h"))
