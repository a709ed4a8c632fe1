-- docs.lua HEADER... -- in a tangled header every function, struct and enum that others can use has a docstring directly above it,
-- and no TeX is left in any comment.
local missing = 0
local function complain(file, what, item)
  missing = missing + 1
  io.stderr:write(file, ": ", what, " ", (item:gsub("%s+", " "):sub(1, 100)), "\n")
end
for _, file in ipairs(arg) do
  local h = assert(io.open(file, "rb")); local s = h:read("a"); h:close()
  for c in s:gmatch("/%*.-%*/") do if c:find("[\\$]") then complain(file, "TeX in", c) end end
  -- the declarations at file scope, each with what stands before it since the one before
  s = s:gsub("^/%*.-%*/", "", 1)
  local pos, depth, start = 1, 0, 1
  local function item(a, b)
    local t = s:sub(a, b)
    local lead = t:match("^[%s]*"); t = t:sub(#lead + 1)
    local doc
    while true do
      if t:find("^/%*") then
        local c, rest = t:match("^(/%*.-%*/)(%s*.*)$")
        doc = not c:find("^/%* <[^>]*> %*/$") and select(2, rest:match("^%s*"):gsub("\n", "")) == 1 and c or nil
        t = rest:gsub("^%s*", "")
      elseif t:find("^#") then t = t:gsub("^#.-\n", "", 1); doc = nil
        t = t:gsub("^%s*", "")
      else break end
    end
    local code = t:gsub("/%*.-%*/", "")
    local forward = code:find("^struct%s+[%w_]+%s*;%s*$") or code:find("^_Static_assert") or code:find("^typedef") and false or code:find("^%s*$")
    if not doc and not forward then complain(file, "no docstring above", code) end
  end
  while pos <= #s do
    local a = s:find("[/#\"{}();]", pos)
    if not a then break end
    local c = s:sub(a, a)
    if s:sub(a, a + 1) == "/*" then local _, e = s:find("*/", a, true); pos = e + 1
    elseif c == "#" and s:sub(1, a - 1):find("\n[ \t]*$") then
      local e = a
      repeat e = s:find("\n", e + 1, true) or #s until s:sub(e - 1, e - 1) ~= "\\"
      pos = e + 1
    elseif c == '"' then pos = (s:find('"', a + 1, true) or #s) + 1
    else
      if c == "{" or c == "(" then depth = depth + 1
      elseif c == "}" or c == ")" then depth = depth - 1 end
      local body = c == "}" and depth == 0 and s:sub(start, a):gsub("/%*.-%*/", ""):find("%)%s*{")
      if depth == 0 and (c == ";" or body) then item(start, a); start = a + 1 end
      pos = a + 1
    end
  end
end
if missing > 0 then io.stderr:write(missing, " faults in the docstrings of the headers\n"); os.exit(1) end
