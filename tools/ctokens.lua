-- ctokens.lua -- the tokens of a C text, with the place of each: comments, white space and backslash-newline are skipped,
-- strings, character constants, names, numbers and operators are whole.  Two texts are the same C if their tokens are,
-- the ends of the lines that begin with # among them.
local M = {}
local operators = { "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##" }

-- 1e or 0x1p: a sign may follow
local function exponent(s) return s:find("^0[xX].*[pP]$") or (s:find("[eE]$") and not s:find("^0[xX]")) end

-- where the token that begins at pos ends
local function token_end(text, pos)
  local c = text:sub(pos, pos)
  if c:find("[%a_]") then local _, b = text:find("^[%w_]+", pos); return b end
  local b = pos
  if c:find("%d") or (c == "." and text:find("^%d", pos + 1)) then
    while text:find("^[%w_.]", b + 1) or (text:find("^[+-]", b + 1) and exponent(text:sub(pos, b))) do b = b + 1 end
  elseif c == '"' or c == "'" then
    b = pos + 1
    while text:sub(b, b) ~= c and b <= #text do b = b + (text:sub(b, b) == "\\" and 2 or 1) end
  else
    for _, o in ipairs(operators) do if text:sub(pos, pos + #o - 1) == o then return pos + #o - 1 end end
  end
  return b
end

-- token[i], from[i], to[i]: text:sub(from[i], to[i]) == token[i]; with ends, the end of a directive is a token, too
function M.split(text, ends)
  local token, from, to, pos = {}, {}, {}, 1
  local fresh, directive = true, false       -- nothing yet on this line; inside a line that begins with #
  local function add(a, b) token[#token + 1], from[#from + 1], to[#to + 1] = text:sub(a, b), a, b end
  while pos <= #text do
    local two = text:sub(pos, pos + 1)
    local c = two:sub(1, 1)
    if c == "\n" then
      if directive and ends then add(pos, pos) end
      fresh, directive, pos = true, false, pos + 1
    elseif c:find("%s") then pos = pos + 1
    elseif two == "\\\n" then pos = pos + 2
    elseif two == "/*" then
      local _, e = text:find("*/", pos + 2, true); pos = (e or #text) + 1
    elseif two == "//" then pos = text:find("\n", pos, true) or #text + 1
    else
      if c == "#" and fresh then directive = true end
      fresh = false
      local b = token_end(text, pos)
      add(pos, b); pos = b + 1
    end
  end
  return token, from, to
end

-- the place of the first difference, or nil
function M.difference(a, b)
  for i = 1, math.max(#a, #b) do if a[i] ~= b[i] then return i end end
end
return M
