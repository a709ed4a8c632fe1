-- flow.lua FILE... -- C whose flow is in its statements: no conditional ?: in the condition or in a branch of another,
-- and no statement of three expressions or more with commas between them.
local C = dofile("tools/ctokens.lua")
local function set(words) local s = {}; for w in words:gmatch("%S+") do s[w] = true end; return s end
local heads = set "if for while switch"
local assigning = set "= += -= *= /= %= &= |= ^= <<= >>= return"
local declaring = set "struct enum union const static extern typedef unsigned signed int char short long float double void bool"

-- the faults of a row of tokens, as { token, what }
local function faults_of(token)
  local faults, open = {}, {}
  -- the innermost open bracket: asked and held, how many ? the expression that is read there has itself and in brackets that are closed;
  -- total, how many there are between the brackets; inside, whether they stand in another conditional
  local f = { asked = 0, held = 0, total = 0, commas = 0, start = 1 }
  local function fresh(k) f.asked, f.held, f.commas, f.start = 0, 0, 0, k end
  for k, t in ipairs(token) do
    if t == "(" or t == "[" or t == "{" then
      open[#open + 1] = f
      f = { asked = 0, held = 0, total = 0, commas = 0, start = k + 1, head = t == "(" and heads[token[k - 1]], inside = f.asked > 0 or f.inside }
    elseif (t == ")" or t == "]" or t == "}") and #open > 0 then
      local closed = f
      f = table.remove(open)
      f.total, f.held = f.total + closed.total, f.held + closed.total
      if closed.head or closed.statements or (t == "}" and #open == 0) then fresh(k + 1) end
    elseif t == "?" then
      if f.asked > 0 or f.held > 0 or f.inside then faults[#faults + 1] = { k, "a conditional in another" } end
      f.asked, f.total = f.asked + 1, f.total + 1
    elseif t == "," then
      f.asked, f.held, f.commas = 0, 0, f.commas + 1
    elseif t == ";" then
      local a, b = token[f.start], token[f.start + 1]
      local declaration = declaring[a] or (a:find("^[%a_]") and a ~= "return" and b:find("^[%a_*]"))
      if f.commas >= 2 and not f.head and not declaration then
        faults[#faults + 1] = { f.start, "a statement of " .. f.commas + 1 .. " expressions" }
      end
      f.statements = not f.head
      fresh(k + 1)
    elseif t == "else" or t == "do" or (t == ":" and f.asked == 0) then fresh(k + 1)
    elseif assigning[t] and f.asked == 0 then f.held = 0 end
  end
  return faults
end

local bad = 0
for _, file in ipairs(arg) do
  local text, found = C.slurp(file), {}
  local function look(s, shift)                             -- s stands in the file after its first shift bytes
    local first, last, n = C.tokens(s)
    local token = {}
    for k = 1, n do token[k] = s:sub(first[k], last[k]) end
    for _, x in ipairs(faults_of(token)) do
      local _, lines = text:sub(1, shift + first[x[1]]):gsub("\n", "")
      found[#found + 1] = { lines + 1, x[2] }
    end
  end
  -- what a line with # defines is read by itself, and then left out
  local plain, at = text, 1
  while at <= #text do
    local stop = text:find("\n", at, true) or #text
    if text:find("^[ \t]*#", at) then
      while text:sub(stop - 1, stop - 1) == "\\" do stop = text:find("\n", stop + 1, true) or #text end
      local line = text:sub(at, stop)
      local _, b = line:find("^%s*#%s*define%s+[%w_]+%b()")
      if not b then _, b = line:find("^%s*#%s*define%s+[%w_]+") end
      if b then look(line:sub(b + 1) .. ";", at - 1 + b) end
      plain = plain:sub(1, at - 1) .. line:gsub("[^\n]", " ") .. plain:sub(stop + 1)
    end
    at = stop + 1
  end
  look(plain, 0)
  bad = bad + #found
  for _, x in ipairs(found) do io.stderr:write(file, ":", x[1], ": ", x[2], "\n") end
end
if bad > 0 then io.stderr:write(bad, " places where an expression hides the flow\n"); os.exit(1) end
