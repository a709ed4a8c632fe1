-- plain.lua CHAPTER SCN FILE WEB -- the tangled C of one file, readable, on stdout:
-- no #line; /*7:*/ becomes the number and name of section 7, /*:7*/ goes; public docstrings,
-- which ctangle drops, come back from the web behind the declarations that they follow there.
local name, scn, file, web = arg[1], arg[2], arg[3], arg[4]
local number = name:match("^A?%d+"):gsub("^0(%d)", "%1")
if number:match("^A") then number = string.char(64 + tonumber(number:sub(2))) end
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local function plain(t)                     -- TeX to words
  t = t:gsub("\\\\{([^}]*)}", "'%1'"):gsub("\\PB", ""):gsub("\\MG%f[%A]", "->"):gsub("\\E%f[%A]", "=="):gsub("\\I%f[%A]", "!="):gsub("\\%.", ""):gsub("\\_", "_"):gsub("\\ldots{?}?", "..."):gsub("\\dots", "..."):gsub("\\times", "x"):gsub("\\infty", "infinity"):gsub("\\ln%f[%A]", "ln"):gsub("\\le%f[%A]", "<="):gsub("\\ge%f[%A]", ">=")
  t = t:gsub("\\%a+%s*", ""):gsub("\\(%A)", "%1"):gsub("[{}$|]", ""):gsub("``", '"'):gsub("''", '"'):gsub("~", " "):gsub("%s+", " ")
  return (t:gsub("%->'([%w_]+)'", "->%1"):gsub("^%s", ""):gsub("%s$", ""))
end
local section = {}
for nums, text in slurp(scn):gsub("%%\n", ""):gmatch("\\X([%d,%s%*\\]+):(.-)\\X") do
  for n in nums:gmatch("%d+") do section[n] = plain(text) end
end
-- docstrings: "declaration; /* words */" in the header's sections
local doc = {}
local function squeeze(s) return (s:gsub("/%*.-%*/", ""):gsub("#[^\n]*\n", ""):gsub("%s+", "")) end
if file:match("%.h$") then
  local w, pos = slurp(web), 1
  while true do
    local a, b, words = w:find("/%*%s(.-)%*/", pos); if not a then break end
    local chunk = w:sub(pos, a - 1):gsub(".*@>%+?=", ""):gsub("@<.-@>", ""):gsub("@[%[%],;|/#+]", "")
    chunk = squeeze(chunk)
    if chunk:match("[;}]$") and #chunk > 8 then doc[chunk] = plain(words) end
    pos = b + 1
  end
end
local text = slurp(file):gsub("#line[^\n]*\n", "")
local out = {}
for l in text:gmatch("([^\n]*)\n") do
  l = l:gsub("/%*:%d+%*/", ""):gsub("/%*(%d+):%*/", function(n)
    return "\n/* " .. number .. "." .. n .. (section[n] and "  " .. section[n] or "") .. " */\n" end)
  out[#out + 1] = l
end
text = table.concat(out, "\n") .. "\n"
if next(doc) then                            -- find each declaration again, whatever its line breaks
  local pos, res, start = 1, {}, 1
  while true do
    local e = text:find("[;}]", pos); if not e then break end
    local piece = squeeze(text:sub(start, e))
    local best
    for tail, words in pairs(doc) do
      if piece:sub(-#tail) == tail and (not best or #tail > #best) then best = tail end
    end
    if best then
      res[#res + 1] = text:sub(start, e)
      local words, line = {}, "/*"
      for w in doc[best]:gmatch("%S+") do
        if #line + #w > 76 then words[#words + 1] = line; line = " *" end
        line = line .. " " .. w
      end
      words[#words + 1] = line .. " */"
      res[#res + 1] = "\n" .. table.concat(words, "\n") .. "\n"
      start = e + 1
    end
    pos = e + 1
  end
  res[#res + 1] = text:sub(start)
  text = table.concat(res)
end
io.write("/* " .. (file:match("[^/]*$")) .. " -- made from " .. web .. "; change it there */\n", (text:gsub("^%s*\n", "\n")))
